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

  // Of a stage: the passes it still needs at the pace of those it had, once there was one. A stage that needs more than was expected
  // is taken to need a quarter more than it had, up to the most it may. What follows is corrected by all that was taken so far.
  void tell_time_left(double fraction) {
    const double seconds = forecast_.stage_seconds(now_.stage, now_.n);
    if (!forecast_.known() || seconds <= 0) return;
    const auto passes = static_cast<double>(std::max<std::size_t>(forecast_.stage_passes(now_.stage, now_.n), 1));
    const double had = now_.pass > 0 ? static_cast<double>(now_.pass - 1) + fraction : 0, taken = seconds_since(stage_began_);
    const double expected = expected_ + seconds * had / passes;
    const double correction = had >= 1 || expected_ > 0 ? std::clamp((taken_ + taken) / expected, 0.02, 50.0) : 1;
    const double pace = had >= 1 ? taken / had : correction * seconds / passes;
    double more = had < passes ? std::max(passes - had, 0.1 * had) : 0.25 * had;
    if (now_.stage != "extend") more = std::min(more, std::max(0.0, static_cast<double>(forecast_.most_passes()) - had));
    const double left = more * pace + correction * forecast_.seconds_after(now_.stage, now_.n, probes_);
    const double elapsed = seconds_since(began_);
    now_.seconds_left = left;
    // where more is left than was thought, it waits: a share done of work that turned out to be more is not undone
    now_.fraction = std::max(now_.fraction, elapsed / (elapsed + left));
  }

  void report(double fraction) {
    if (observer_ == nullptr) return;
    if (observer_->stop()) throw Error(Failure::interrupted, "interrupted");
    const double seconds = seconds_since(started_);
    tell_time_left(fraction);
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
