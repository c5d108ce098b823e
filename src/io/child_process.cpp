#include "io/child_process.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "io/bytes.hpp"

namespace fd {
namespace {

constexpr char ready = 'r', failed = 'f';
constexpr int out_of_memory = 3;  // exit status of a child: words about it would need memory
constexpr std::uint64_t longest_text = std::uint64_t{1} << 32;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // whose shadow memory is larger than any limit
void limit_memory(std::uint64_t) {}
#else
// Bytes of address space in use; 0 where the system does not say.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit_memory(std::uint64_t file_bytes) {
  const std::uint64_t used = address_space();
  rlimit limit = {};
  if (used == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
  // Room for what is unpacked: compressed tables are rarely larger than this.
  const rlim_t wanted = used + (std::uint64_t{2} << 30) + 32 * std::min(file_bytes, std::uint64_t{1} << 50);
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_AS, &limit);
}
#endif

void send_error(const Channel& channel, Failure kind, const std::string& what, const std::string& hint) {
  channel.send(&failed, 1);
  channel.send_number(static_cast<std::uint64_t>(kind));
  channel.send_text(what);
  channel.send_text(hint);
}

Error no_memory(const std::string& path) {
  return Error(Failure::memory, fmt::format("not enough memory to read {}", path),
               "close other programs, or use a machine with more memory");
}

// The child's whole life. Throws std::bad_alloc where there is no memory for the work, nor for words about what it threw.
void live(const Channel& channel, const std::string& path, std::uint64_t file_bytes,
          const std::function<void(const Channel&)>& work) {
  for (const int ignored : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(ignored, SIG_IGN);  // the parent decides
  for (const int fatal : {SIGTERM, SIGXCPU, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) ::signal(fatal, SIG_DFL);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  limit_memory(file_bytes);
  grant_time(file_bytes);
  try {
    work(channel);
  } catch (const Error& error) {
    send_error(channel, error.kind(), error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    send_error(channel, Failure::input, fmt::format("{} cannot be read: {}", path, error.what()), "write it again");
  }
}

}  // namespace

void Channel::send(const void* data, std::size_t bytes) const {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
#if defined(MSG_NOSIGNAL)
    const ssize_t put = ::send(socket_, from, bytes, MSG_NOSIGNAL);
#else
    const ssize_t put = ::write(socket_, from, bytes);
#endif
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw Ended();
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void Channel::receive(void* data, std::size_t bytes) const {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::read(socket_, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Ended();
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

std::uint64_t Channel::receive_number() const {
  std::uint64_t value = 0;
  receive(&value, sizeof value);
  return value;
}

void Channel::send_text(const std::string& text) const {
  send_number(text.size());
  send(text.data(), text.size());
}

std::string Channel::receive_text() const {
  const std::uint64_t length = receive_number();
  if (length > longest_text) throw Ended();
  std::string text(length, '\0');
  receive(text.data(), text.size());
  return text;
}

bool ChildProcess::possible() {
#if defined(__linux__)
  // Not std::filesystem: its iterator ends the process where there is no memory for it.
  DIR* const folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return false;
  int threads = 0;
  while (const dirent* entry = ::readdir(folder)) threads += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return threads == 1;
#else
  return false;
#endif
}

ChildProcess::ChildProcess(std::string path, const std::function<void(const Channel&)>& work)
    : path_(std::move(path)), channel_(-1) {
  struct stat status = {};
  const std::uint64_t bytes = ::stat(path_.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw system_error("read", path_, errno);
  child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[0]);
    // Whatever comes, it ends here, never in what the parent goes on with.
    try {
      live(Channel(ends[1]), path_, bytes, work);
    } catch (const std::bad_alloc&) {
      ::_exit(out_of_memory);
    } catch (...) {  // the parent is gone
    }
    ::_exit(0);
  }
  const int reason = errno;
  ::close(ends[1]);
  channel_ = Channel(ends[0]);
  if (child_ > 0) return;
  ::close(ends[0]);
  throw system_error("start a process to read", path_, reason);
}

ChildProcess::~ChildProcess() {
  ::close(channel_.socket());
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);  // it may be in a loop that never looks at the socket
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::report_end() {
  int status = 0;
  pid_t ended = -1;
  while (child_ > 0 && (ended = ::waitpid(child_, &status, 0)) < 0 && errno == EINTR) {
  }
  child_ = -1;  // its number may be another's from now on
  const int signal = ended > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGKILL || signal == SIGTERM)
    throw Error(Failure::memory, fmt::format("reading {} was ended from outside (signal {})", path_, signal),
                "was there enough memory? Then try again");
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == out_of_memory) throw no_memory(path_);
  const std::string how = signal == SIGXCPU ? "would not end" : signal != 0 ? "failed" : "stopped";
  throw Error(Failure::input, fmt::format("{} is damaged: the HDF5 library {} on it", path_, how),
              "copy it again from where it was whole, or write it again");
}

void announce_answer(const Channel& channel) { channel.send(&ready, 1); }

void await_answer(const Channel& channel) {
  char answer = 0;
  channel.receive(&answer, 1);
  if (answer == ready) return;
  const auto kind = static_cast<Failure>(channel.receive_number());
  const std::string what = channel.receive_text(), hint = channel.receive_text();
  throw Error(kind, what, hint);
}

void grant_time(std::uint64_t bytes) {
  constexpr std::uint64_t at_least = 5, bytes_a_second = 20'000'000;
  rusage used = {};
  rlimit limit = {};
  if (::getrusage(RUSAGE_SELF, &used) != 0 || ::getrlimit(RLIMIT_CPU, &limit) != 0) return;
  const rlim_t wanted = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + at_least + bytes / bytes_a_second;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace fd
