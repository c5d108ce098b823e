#include "common/python_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "common/interrupt.hpp"

extern char** environ;

namespace fd::cli {
namespace {

constexpr std::chrono::seconds longest_start{60};
constexpr std::size_t longest_line = std::size_t{1} << 24, longest_shown = 60;

// What numpy's linear algebra reads the number of threads from.
std::vector<std::string> environment(int threads) {
  const char* names[] = {"OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="};
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) {
    bool ours = false;
    for (const char* name : names) ours = ours || std::strncmp(*word, name, std::strlen(name)) == 0;
    if (!ours) words.emplace_back(*word);
  }
  for (const char* name : names) words.push_back(name + std::to_string(threads));
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

PythonProcess::PythonProcess(const std::string& python, const std::vector<std::string>& script, int threads,
                             const std::vector<std::string>& modules)
    : PythonProcess() {  // from here on the destructor runs, whatever is thrown
  const std::vector<std::string> candidates =
      python.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector{python};
  for (const std::string& candidate : candidates) {
    end();
    if (!start(candidate, script, threads)) continue;
    bool all = true;
    for (const std::string& module : modules) all = all && has(module);
    if (all) return;
  }
}

PythonProcess::~PythonProcess() { end(); }

bool PythonProcess::start(const std::string& python, const std::vector<std::string>& script, int threads) {
  int to_child[2], from_child[2];
  failure_ = "it does not run: no pipe can be made";
  if (pipe2(to_child, O_CLOEXEC) != 0) return false;
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    close(to_child[0]);
    close(to_child[1]);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  std::vector<std::string> words = {python}, variables = environment(threads);
  words.insert(words.end(), script.begin(), script.end());
  posix_spawnattr_t attributes;  // a group of its own, so that what it started ends with it
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawnp(&process_, python.c_str(), &actions, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(to_child[0]);
  close(from_child[1]);
  to_ = to_child[1];
  from_ = from_child[0];
  if (error == 0) {
    failure_.clear();
    read_installed();
  } else {
    process_ = -1;
    failure_ = fmt::format("it does not run: {}", std::strerror(error));
  }
  return runs();
}

void PythonProcess::read_installed() {
  std::string banner;  // its first line that says anything
  const Clock::time_point until = Clock::now() + longest_start;
  while (const auto line = read_line(until)) {
    installed_ = nlohmann::json::parse(*line, nullptr, false);
    if (runs()) return;
    if (banner.empty()) banner = *line;
  }
  if (banner.empty()) banner = pending_;
  const bool late = Clock::now() >= until;
  const std::string said = banner.empty() ? (late ? "it says nothing" : "it ended without a word")
                                          : fmt::format("it says \"{}\"", printable(banner.substr(0, longest_shown)));
  failure_ = fmt::format("{}, and {} our script{}", said, late ? "has not begun" : "does not run",
                         late ? fmt::format(" in {} seconds", longest_start.count()) : "");
}

void PythonProcess::end() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  to_ = from_ = -1;
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  pending_.clear();
  installed_ = nullptr;
}

bool PythonProcess::has(const std::string& module) const {
  return installed_.is_object() && installed_.value(module, nlohmann::json()).is_string();
}

std::string PythonProcess::version(const std::string& module) const {
  return has(module) ? installed_[module].get<std::string>() : std::string();
}

nlohmann::json PythonProcess::ask(const nlohmann::json& request) {
  const std::string line = request.dump() + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(to_, line.data() + written, line.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    else if (errno != EINTR) return {{"error", "the Python process ended"}};
  }
  const nlohmann::json answer = nlohmann::json::parse(read_line().value_or(""), nullptr, false);
  return answer.is_object() ? answer : nlohmann::json{{"error", "the Python process ended"}};
}

std::optional<std::string> PythonProcess::read_line(std::optional<Clock::time_point> until) {
  for (;;) {
    const auto end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    throw_if_interrupted();
    if (pending_.size() > longest_line || (until && Clock::now() >= *until)) return {};
    pollfd waiting = {from_, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    char piece[4096];
    const ssize_t count = read(from_, piece, sizeof piece);
    if (count == 0 || (count < 0 && errno != EINTR)) return {};
    if (count > 0) pending_.append(piece, static_cast<std::size_t>(count));
  }
}

}  // namespace fd::cli
