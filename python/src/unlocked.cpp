#include "unlocked.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>

#include "bindings.hpp"

namespace fd::python {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> ending{false};
std::atomic<std::thread::id> ender;  // the thread in which it ends, which may still run what it likes
std::atomic<int> runs{0};
thread_local int own_runs = 0;  // of this thread; more than one where a callback calls the library

[[noreturn]] void sleep_to_the_end() {
  for (;;) std::this_thread::sleep_for(24h);
}

// Longer than any run takes to stop. What is not over then, a callback that waits for something, is left to itself.
constexpr auto patience = 10s;

void end() {
  ender = std::this_thread::get_id();
  ending = true;
  const nanobind::gil_scoped_release others_may_go_on;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (runs > own_runs && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
}

}  // namespace

bool python_ends() noexcept { return ending && ender.load() != std::this_thread::get_id(); }

Unlocked::Unlocked() noexcept : state_(PyEval_SaveThread()) {
  if (python_ends()) sleep_to_the_end();
  ++runs;
  ++own_runs;
}

Unlocked::~Unlocked() {
  if (python_ends()) {
    --runs;
    sleep_to_the_end();
  }
  PyEval_RestoreThread(state_);
  --own_runs;
  --runs;
}

void bind_end(nanobind::module_&) {
  ending = false;
  nanobind::set_leak_warnings(false);  // what a sleeping thread holds is not freed, and nobody need hear of it
  pthread_atfork(nullptr, nullptr, [] { runs = own_runs; });  // of the threads a child has one
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&end));
}

}  // namespace fd::python
