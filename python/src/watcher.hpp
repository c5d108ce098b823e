// Lets the library run without Python's global lock and still be watched from Python: progress and remarks go to callables, a pending
// signal (Ctrl-C) or an exception from a callable stops the run within a fraction of a second and is what the caller sees.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include <flashdiffusion/options.hpp>

#include "unlocked.hpp"

namespace fd::python {

namespace nb = nanobind;

class Watcher final : public Observer {
 public:
  // progress(dict) and note(str), or None
  Watcher(nb::object progress, nb::object note) : progress_(std::move(progress)), note_(std::move(note)) {}

  void progress(const Progress& now) override;
  void note(const std::string& line) override;
  bool stop() override;
  void raise_pending();  // with the lock held

 private:
  using Clock = std::chrono::steady_clock;
  template <class Call>
  void guarded(Call&& call);  // takes the lock, unless Python ends; an exception is kept for raise_pending()

  nb::object progress_, note_;
  std::optional<nb::python_error> pending_;
  Clock::time_point reported_{}, asked_{};
};

// body(Observer*) without the lock.
template <class Body>
auto watched(nb::object progress, nb::object note, Body&& body) {
  Watcher watcher(std::move(progress), std::move(note));
  try {
    auto result = [&] {
      const Unlocked unlocked;
      return body(static_cast<Observer*>(&watcher));
    }();
    watcher.raise_pending();
    return result;
  } catch (const std::exception&) {
    watcher.raise_pending();
    throw;
  }
}

}  // namespace fd::python
