#include "base/team.hpp"

#include <algorithm>
#include <cstdlib>

#if defined(__linux__)
#include <sched.h>
#endif

#include "base/wait_for_change.hpp"

namespace fd {
int available_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

Team::Team(int threads) {
  if (threads <= 0) {
    const char* wish = std::getenv("FLASHDIFFUSION_THREADS");
    threads = wish != nullptr ? std::atoi(wish) : 0;
    if (threads <= 0) threads = available_cores();
  }
  for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
}

Team::~Team() {
  quit_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
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

void Team::work(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(generation_, seen);
    if (quit_.load()) return;
    if (worker < most_) drain(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
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
  busy_.store(static_cast<std::uint32_t>(workers_.size()));
  generation_.fetch_add(1, std::memory_order_acq_rel);
  generation_.notify_all();
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
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;) left = wait_for_change(busy_, left);
  if (stopped) std::rethrow_exception(stopped);
  if (failed_.load()) std::rethrow_exception(error_);
}

}  // namespace fd
