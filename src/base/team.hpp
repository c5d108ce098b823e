// A team of threads that runs numbered tasks. Tasks may go to any thread in any order, so a task must write to memory of its
// own; then the result is the same for every number of threads. The calling thread works too, and waits for those alone that have begun:
// on a busy machine a thread that the system does not let run holds nobody up.
//
// A system may refuse threads. A number that was asked for is then an error; where it was left open the team makes do with those that
// it got.
//
// Own threads instead of OpenMP: two OpenMP runtimes in one process (NumPy's, PyTorch's) fight, and ThreadSanitizer can see
// through these.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace fd {

class Team {
 public:
  using Start = std::function<std::thread(std::function<void()>)>;  // std::system_error: no more threads
  static constexpr int most_threads = 4096;

  // 0: as many as this process may use; FLASHDIFFUSION_THREADS overrides 0. Throws Error(misuse) for a number outside
  // [0, most_threads], Error(device) where fewer than the number asked for could be started.
  explicit Team(int threads, const Start& start = start_thread);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(index, worker) for index in [0, count); worker in [0, threads()). `poll` is called on the calling thread
  // between tasks and may throw: the rest of the tasks are then dropped and the exception is passed on. `most` limits the
  // number of threads that take part (work too small for all of them).
  void run(std::size_t count, const std::function<void(std::size_t, int)>& task, const std::function<void()>& poll = {},
           int most = 1 << 20);

 private:
  static std::thread start_thread(std::function<void()> body) { return std::thread(std::move(body)); }
  void dismiss();
  void work(int worker);
  void drain(int worker);

  std::vector<std::thread> workers_;
  const std::function<void(std::size_t, int)>* task_ = nullptr;
  std::size_t count_ = 0;
  int most_ = 0;
  std::atomic<std::size_t> next_{0};
  static bool open(std::uint32_t run) { return run % 2 == 1; }
  std::atomic<std::uint32_t> run_{0};     // odd while a run is open; two higher from run to run
  std::atomic<std::uint32_t> inside_{0};  // workers that may be at work
  std::atomic<bool> quit_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

int available_cores();

}  // namespace fd
