// What an observer is told while a fit runs, and when it can stop one.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include <flashdiffusion/fit.hpp>

#include "fit/progress_watch.hpp"

namespace fd {
namespace {

class Recorder final : public Observer {
 public:
  void progress(const Progress& now) override { told.push_back(now); }
  std::vector<Progress> told;
};

// However short a pass was, its end tells a rate, which stays until the next one is known.
TEST(FitProgress, TheRateOfAShortPassIsTold) {
  Recorder recorder;
  ProgressWatch watch(&recorder);
  watch.stage("solve", 1000, 1.0, 3);
  watch.pass(1e6);
  EXPECT_EQ(recorder.told.back().pairs_per_second, 0);
  watch.tick(1);
  const double rate = recorder.told.back().pairs_per_second;
  EXPECT_GT(rate, 0);
  watch.pass(1e6);
  EXPECT_EQ(recorder.told.back().pairs_per_second, rate);
}

FitForecast half_a_second_a_pass(std::size_t max_passes = 0) {
  Options options;
  options.beta = 1;
  options.modes = 3;
  options.max_passes = max_passes;
  PassCosts costs;
  costs.made = costs.kept = {1e-6, 0};
  return {1000, 3, options, costs};
}

// A machine that is far quicker than was forecast is believed after a pass; a solve that needs more passes than was expected
// neither stalls nor comes to an end that it does not know of.
TEST(FitProgress, TimeLeftFollowsThePaceOfThePasses) {
  Recorder recorder;
  ProgressWatch watch(&recorder);
  const FitForecast forecast = half_a_second_a_pass();
  watch.expect(forecast);
  watch.stage("solve", 1000, 1.0, 3);
  EXPECT_NEAR(recorder.told.back().seconds_left, forecast.total().seconds, 0.1);
  const std::size_t expected = forecast.stage_passes("solve", 1000);
  ASSERT_GT(expected, 5u);
  const auto pass = [&] {
    watch.pass(5e5);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    watch.tick(1);
    return recorder.told.back();
  };
  pass();
  EXPECT_LT(pass().seconds_left, 0.1 * forecast.total().seconds);
  while (recorder.told.back().pass < expected) pass();
  const double at_expected = recorder.told.back().seconds_left;
  while (recorder.told.back().pass < 2 * expected) pass();
  EXPECT_GT(recorder.told.back().seconds_left, at_expected);
  EXPECT_LT(recorder.told.back().seconds_left, 0.1 * forecast.total().seconds);
  while (recorder.told.back().pass < forecast.most_passes()) pass();
  EXPECT_EQ(recorder.told.back().seconds_left, 0);
}

TEST(FitProgress, TheForecastKnowsTheMostPasses) {
  EXPECT_EQ(half_a_second_a_pass(3).total().passes, 5u);  // with mass and degree
  EXPECT_GT(half_a_second_a_pass().total().passes, 10u);
}

// Rows that are made as they are read; the reader's wish to stop comes with the second piece.
class StopsWhileReading final : public PointSource, public Observer {
 public:
  std::size_t rows() const override { return 1 << 20; }
  std::size_t dimension() const override { return 8; }
  void read(std::size_t first, std::size_t count, double* out) override {
    ++pieces;
    for (std::size_t i = 0; i < count * dimension(); ++i) out[i] = static_cast<double>((first + i) % 17);
  }
  bool stop() override { return pieces > 1; }
  std::size_t pieces = 0;
};

TEST(FitProgress, ReadingCanBeStopped) {
  StopsWhileReading points;
  Options options;
  options.observer = &points;
  try {
    fit(points, options);
    FAIL() << "ran on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::interrupted);
  }
  EXPECT_EQ(points.pieces, 2u);
}

// The wish to stop comes while rows that were read for a rung are put in order: three times in turn nothing is read between two questions.
class StopsBetweenReadings final : public PointSource, public Observer {
 public:
  std::size_t rows() const override { return 1 << 18; }
  std::size_t dimension() const override { return 4; }
  void read(std::size_t first, std::size_t count, double* out) override {
    rows_read += count;
    asked = 0;
    for (std::size_t i = 0; i < count * dimension(); ++i)
      out[i] = std::sin(static_cast<double>(first * dimension() + i + 1) * 12.9898) * 43758.5453;
  }
  bool stop() override { return rows_read >= 3 * rows() && ++asked > 3; }  // two readings tell what the table is like
  std::size_t rows_read = 0, asked = 0;
};

TEST(FitProgress, WorkBetweenReadingsCanBeStopped) {
  StopsBetweenReadings points;
  Options options;
  options.observer = &points;
  options.beta = 1e-8;
  try {
    fit(points, options);
    FAIL() << "ran on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::interrupted);
  }
  EXPECT_LT(points.rows_read, 4 * points.rows());
}

// Points that come after a fit are many: the wish to stop comes before the first pass.
struct StopsBeforeThePass final : Observer {
  void progress(const Progress& now) override { passes = now.pass; }
  bool stop() override { return passes == 0 && ++asked > 3; }
  std::size_t passes = 0, asked = 0;
};

TEST(FitProgress, LoadingPointsToTransformCanBeStopped) {
  std::vector<float> few(300), many(std::size_t{1} << 18);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::sin(0.3F * static_cast<float>(i));
  std::copy(many.begin(), many.begin() + 300, few.begin());
  Options options;
  options.modes = 2;
  options.beta = 1.0;
  const Model model = fit(PointsView(few.data(), 100, 3), options);
  StopsBeforeThePass observer;
  options.observer = &observer;
  ViewSource points(PointsView(many.data(), many.size() / 3, 3));
  EXPECT_THROW(model.transform(points, 1, options), Error);
  EXPECT_EQ(observer.passes, 0u);
  EXPECT_EQ(observer.asked, 4u);
}

}  // namespace
}  // namespace fd
