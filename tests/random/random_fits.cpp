// Random fits, each recomputed densely in fp64: `random_fits --count 2000 --seed 1`. A fit that makes a false claim, crashes, or does not
// end is printed with its recipe and the command that runs it again; the exit status is 1 where there was one.
//
// Each fit runs in a child process, so that a crash is one failure of many and a fit that never ends can be ended.
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include <flashdiffusion/flashdiffusion.hpp>

#include "random/recipe.hpp"
#include "support/model_claims.hpp"

namespace fd::test {
namespace {

struct Arguments {
  std::uint64_t seed = 1, first = 0, count = 2000;
  double seconds =
      60;  // of processor time for a fit, of which the slowest take 20 on a slow machine; ten times as long by the clock
  bool verbose = false;
};

// The first letter of a child's answer is its kind: h(olds), r(efused), f(alse).
std::string run_fit(const Recipe& recipe) {
  const Dataset data = recipe.table();
  const auto fitted = [&](const Options& options) { return fit(PointsView(data.x.data(), data.rows, data.dimension), options); };
  try {
    const Model model = fitted(recipe.options);
    const ModelClaims claims(data, recipe.options, model);
    std::vector<std::string> wrong = claims.false_ones();
    Options other = recipe.options;
    other.threads = recipe.options.threads == 1 ? 2 : 1;
    const Model again = fitted(other);
    if (again.beta != model.beta || again.eigenvalues != model.eigenvalues || again.residuals != model.residuals)
      wrong.push_back(
          fmt::format("bits: another result with {} threads (beta {:.17g}, {:.17g})", other.threads, model.beta, again.beta));
    if (wrong.empty()) return fmt::format("h{} {:.2g}", model.converged ? "converged" : "not converged", claims.worst_share());
    std::string text =
        fmt::format("f[{}; beta {:.6g}; {}]", model.converged ? "converged" : "not converged", model.beta, model.outcome);
    for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 6); ++i) text += "\n    " + wrong[i];
    if (wrong.size() > 6) text += fmt::format("\n    and {} more", wrong.size() - 6);
    return text;
  } catch (const Error& error) {
    const bool small_budget = error.kind() == Failure::memory && recipe.options.memory_bytes.value_or(0) > 0;
    if (error.kind() == Failure::misuse || error.kind() == Failure::input || small_budget)
      return fmt::format("r{}", error.what());
    return fmt::format("fan Error that is neither misuse nor input: {}", error.what());
  } catch (const std::exception& error) {
    return fmt::format("fan exception that is not fd::Error: {}", error.what());
  }
}

class Child {
 public:
  Child(const Recipe& recipe, double seconds) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::fflush(nullptr);
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("no child process");
    if (process_ == 0) {
      close(ends[0]);
      const rlimit processor{static_cast<rlim_t>(std::ceil(seconds)), RLIM_INFINITY}, core{0, 0};
      setrlimit(RLIMIT_CPU, &processor);
      setrlimit(RLIMIT_CORE, &core);
      const std::string answer = run_fit(recipe);
      [[maybe_unused]] const ssize_t written = write(ends[1], answer.data(), std::min<std::size_t>(answer.size(), 30000));
      _exit(0);
    }
    close(ends[1]);
    from_ = ends[0];
    listen(10 * seconds);
    close(from_);
    int status = 0;
    waitpid(process_, &status, 0);
    if (late_) answer_ = fmt::format("fno end within {} s by the clock", 10 * seconds);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
      answer_ = fmt::format("fno end within {} s of processor time", seconds);
    else if (WIFSIGNALED(status)) answer_ = fmt::format("fcrash: {}", strsignal(WTERMSIG(status)));
    else if (answer_.empty()) answer_ = fmt::format("fended with status {} and no answer", WEXITSTATUS(status));
  }
  const std::string& answer() const { return answer_; }

 private:
  void listen(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd waiting{from_, POLLIN, 0};
      if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) == 0) {
        late_ = true;
        kill(process_, SIGKILL);
        return;
      }
      char piece[4096];
      const ssize_t count = read(from_, piece, sizeof piece);
      if (count <= 0) return;
      answer_.append(piece, static_cast<std::size_t>(count));
    }
  }

  pid_t process_ = 0;
  int from_ = -1;
  bool late_ = false;
  std::string answer_;
};

// Numbers left out, so that refusals for one reason are counted as one.
std::string reason(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text.substr(0, 70);
}

int run(const Arguments& arguments) {
  std::map<std::string, std::size_t> refusals;
  std::size_t failures = 0, refused = 0, converged = 0;
  double worst = 0;
  for (std::uint64_t number = arguments.first; number < arguments.first + arguments.count; ++number) {
    const Recipe recipe = draw_recipe(arguments.seed, number);
    const std::string answer = Child(recipe, arguments.seconds).answer();
    if (arguments.verbose) fmt::print("{}: {}\n  {}\n", number, describe(recipe), answer);
    if (answer[0] == 'f') {
      ++failures;
      fmt::print("FALSE --seed {} --first {} --count 1: {}\n  {}\n", arguments.seed, number, describe(recipe), answer.substr(1));
    } else if (answer[0] == 'r') {
      ++refused;
      ++refusals[reason(answer.substr(1))];
    } else {
      converged += answer.starts_with("hconverged") ? 1 : 0;
      worst = std::max(worst, std::strtod(answer.c_str() + answer.rfind(' '), nullptr));
    }
    std::fflush(stdout);
  }
  const std::uint64_t held = arguments.count - failures - refused;
  fmt::print(
      "{} fits: {} hold ({} converged), {} refused, {} false; residuals understated by {:.2g} of what is allowed at most\n",
      arguments.count, held, converged, refused, failures, worst);
  for (const auto& [what, times] : refusals) fmt::print("  refused {} times: {}\n", times, what);
  // a net that refuses its fish holds nothing
  if (arguments.count >= 50 && (3 * refused > arguments.count || 4 * converged < arguments.count)) {
    fmt::print("too many were refused, or too few converged, for this to be a test\n");
    return 1;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fd::test

int main(int count, char** words) {
  fd::test::Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (word == "--verbose") {
      arguments.verbose = true;
      continue;
    }
    if (word == "--seed") arguments.seed = std::strtoull(value, nullptr, 10);
    else if (word == "--first") arguments.first = std::strtoull(value, nullptr, 10);
    else if (word == "--count") arguments.count = std::strtoull(value, nullptr, 10);
    else if (word == "--seconds") arguments.seconds = std::strtod(value, nullptr);
    else {
      fmt::print(stderr, "usage: random_fits [--count N] [--seed S] [--first I] [--seconds T] [--verbose]\n");
      return 2;
    }
    ++i;
  }
  return fd::test::run(arguments);
}
