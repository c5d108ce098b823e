// Turns the ticks of kernel passes into Progress for an Observer, and its wish to stop into Error(interrupted).
#pragma once

#include <chrono>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/options.hpp>

#include "device/watch.hpp"

namespace fd {

class ProgressWatch final : public Watch {
 public:
  explicit ProgressWatch(Observer* observer) : observer_(observer) {}

  Progress& now() { return now_; }

  void stage(const std::string& name, std::size_t n, double beta, std::size_t wanted) {
    now_.stage = name;
    now_.n = n;
    now_.beta = beta;
    now_.pass = 0;
    now_.converged = 0;
    now_.wanted = wanted;
    report(0);
  }

  // Pairs of points a pass visits, from here on.
  void expect(double pairs) { pairs_ = pairs; }

  void pass_begins() override {
    now_.pass += 1;
    started_ = Clock::now();
    report(0);
  }

  void pass(double pairs) {
    expect(pairs);
    pass_begins();
  }

  void tick(double fraction) override { report(fraction); }

  void note(const std::string& line) {
    if (observer_ != nullptr) observer_->note(line);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void report(double fraction) {
    if (observer_ == nullptr) return;
    if (observer_->stop()) throw Error(Failure::interrupted, "interrupted");
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    now_.pass_fraction = fraction;
    if (seconds > 0.05 && fraction > 0) now_.pairs_per_second = pairs_ * fraction / seconds;
    observer_->progress(now_);
  }

  Observer* observer_;
  Progress now_;
  double pairs_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace fd
