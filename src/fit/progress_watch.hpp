// Turns the ticks of kernel passes into Progress for an Observer, and its wish to stop into Error(interrupted).
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/options.hpp>

#include "device/watch.hpp"
#include "fit/forecast.hpp"

namespace fd {

class ProgressWatch final : public Watch {
 public:
  explicit ProgressWatch(Observer* observer) : observer_(observer) {}

  Progress& now() { return now_; }

  // The whole fit as forecast; without it no time left is reported.
  void expect(const FitForecast& forecast) { forecast_ = forecast; }

  void stage(const std::string& name, std::size_t n, double beta, std::size_t wanted) {
    weigh_last_stage();
    if (n != now_.n) probes_ = 0;
    if (name == "probe") ++probes_;
    now_.stage = name;
    now_.n = n;
    now_.beta = beta;
    now_.pass = 0;
    now_.converged = 0;
    now_.wanted = wanted;
    stage_began_ = Clock::now();
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
  static double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

  // What the stages so far took over what they were expected to take corrects what is expected of the others.
  void weigh_last_stage() {
    const double expected = forecast_.stage_seconds(now_.stage, now_.n);
    if (expected <= 0) return;
    expected_ += expected;
    taken_ += seconds_since(stage_began_);
  }

  void tell_time_left() {
    if (!forecast_.known() || forecast_.stage_seconds(now_.stage, now_.n) <= 0) return;
    const double correction = expected_ > 0 ? std::clamp(taken_ / expected_, 0.2, 5.0) : 1;
    const double stage = correction * forecast_.stage_seconds(now_.stage, now_.n);
    const double left = std::max(0.1 * stage, stage - seconds_since(stage_began_)) +
                        correction * forecast_.seconds_after(now_.stage, now_.n, probes_);
    const double elapsed = seconds_since(began_);
    now_.seconds_left = left;
    now_.fraction = elapsed / (elapsed + left);
  }

  void report(double fraction) {
    if (observer_ == nullptr) return;
    if (observer_->stop()) throw Error(Failure::interrupted, "interrupted");
    const double seconds = seconds_since(started_);
    tell_time_left();
    now_.pass_fraction = fraction;
    if (fraction > 0 && seconds > (fraction < 1 ? 0.05 : 0)) now_.pairs_per_second = pairs_ * fraction / seconds;
    observer_->progress(now_);
  }

  Observer* observer_;
  Progress now_;
  double pairs_ = 0;
  FitForecast forecast_;
  std::size_t probes_ = 0;           // begun on this rung
  double expected_ = 0, taken_ = 0;  // seconds of the stages so far
  Clock::time_point began_ = Clock::now(), stage_began_ = began_, started_ = began_;
};

}  // namespace fd
