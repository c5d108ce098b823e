#include "base/team.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#endif

#include <flashdiffusion/error.hpp>

#include "base/wait_for_change.hpp"

namespace fd {

int available_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

namespace {

// 0 where the environment leaves it open.
int threads_of_environment() {
  const char* text = std::getenv("FLASHDIFFUSION_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  int threads = -1;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, threads);
  if (read.ec != std::errc() || read.ptr != end || threads < 0 || threads > Team::most_threads)
    throw Error(Failure::misuse, "FLASHDIFFUSION_THREADS=" + std::string(text) + " is not a number of threads",
                "set it to a whole number up to " + std::to_string(Team::most_threads) + ", 0 for all cores, or unset it");
  return threads;
}

}  // namespace

Team::Team(int threads, const Start& start) {
  if (threads < 0 || threads > most_threads)
    throw Error(Failure::misuse, std::to_string(threads) + " threads were asked for",
                "`threads` lies between 0, for all cores, and " + std::to_string(most_threads));
  if (threads == 0) threads = threads_of_environment();
  const bool asked_for = threads > 0;
  if (!asked_for) threads = std::min(available_cores(), most_threads);
  workers_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int worker = 1; worker < threads; ++worker) workers_.push_back(start([this, worker] { work(worker); }));
  } catch (const std::exception& refusal) {  // std::system_error, or no memory for the thread's state
    if (!asked_for) return;
    const int started = this->threads();
    dismiss();
    throw Error(
        Failure::device,
        "only " + std::to_string(started) + " of " + std::to_string(threads) + " threads could be started: " + refusal.what(),
        "ask for fewer `threads`, or raise the limits on processes and memory");
  }
}

Team::~Team() { dismiss(); }

void Team::dismiss() {
  quit_.store(true);
  run_.fetch_add(1);
  run_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void Team::drain(int worker) {
  for (;;) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_) return;
    try {
      (*task_)(index, worker);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
      next_.store(count_, std::memory_order_relaxed);
    }
  }
}

// A worker announces itself and then looks whether the run is still open; the caller closes the run and then looks who has announced
// itself. Both in one order of all operations, so that either the worker stays out or the caller waits for it.
void Team::work(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(run_, seen);
    if (quit_.load()) return;
    if (!open(seen)) continue;
    inside_.fetch_add(1);
    if (run_.load() == seen && worker < most_) drain(worker);
    if (inside_.fetch_sub(1) == 1) inside_.notify_one();
  }
}

void Team::run(std::size_t count, const std::function<void(std::size_t, int)>& task, const std::function<void()>& poll,
               int most) {
  if (count == 0) return;
  if (workers_.empty() || most <= 1 || count == 1) {
    for (std::size_t index = 0; index < count; ++index) {
      if (poll) poll();
      task(index, 0);
    }
    return;
  }
  task_ = &task;
  count_ = count;
  most_ = most;
  failed_.store(false);
  error_ = nullptr;
  next_.store(0);
  run_.fetch_add(1);
  run_.notify_all();
  std::exception_ptr stopped;
  try {
    for (;;) {
      if (poll) poll();
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) break;
      task(index, 0);
    }
  } catch (...) {
    next_.store(count);
    stopped = std::current_exception();
  }
  run_.fetch_add(1);  // closed: whoever has not begun by now need not
  for (std::uint32_t left = inside_.load(); left != 0;) left = wait_for_change(inside_, left);
  if (stopped) std::rethrow_exception(stopped);
  if (failed_.load()) std::rethrow_exception(error_);
}

}  // namespace fd
