#include "watcher.hpp"

#include <nanobind/stl/string.h>

#include "text.hpp"

namespace fd::python {
namespace {

constexpr auto between_reports = std::chrono::milliseconds(100), between_questions = std::chrono::milliseconds(50);

}  // namespace

template <class Call>
void Watcher::guarded(Call&& call) {
  if (pending_ || python_ends()) return;
  const nb::gil_scoped_acquire lock;
  try {
    call();
  } catch (nb::python_error& error) {
    pending_.emplace(std::move(error));
  }
}

void Watcher::progress(const Progress& now) {
  if (progress_.is_none()) return;
  const auto time = Clock::now();
  if (time - reported_ < between_reports) return;
  reported_ = time;
  guarded([&] {
    nb::dict record;
    record["stage"] = now.stage;
    record["n"] = now.n;
    record["beta"] = now.beta;
    record["pass"] = now.pass;
    record["pass_fraction"] = now.pass_fraction;
    record["pairs_per_second"] = now.pairs_per_second;
    record["converged"] = now.converged;
    record["wanted"] = now.wanted;
    record["fraction"] = now.fraction;
    record["seconds_left"] = now.seconds_left;
    progress_(record);
  });
}

void Watcher::note(const std::string& line) {
  if (note_.is_none()) return;
  guarded([&] { note_(shown(line)); });
}

bool Watcher::stop() {
  if (pending_ || python_ends()) return true;
  const auto time = Clock::now();
  if (time - asked_ < between_questions) return false;
  asked_ = time;
  guarded([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return pending_.has_value();
}

void Watcher::raise_pending() {
  if (!pending_) return;
  nb::python_error error = std::move(*pending_);
  pending_.reset();
  throw error;
}

}  // namespace fd::python
