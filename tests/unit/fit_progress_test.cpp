// What an observer is told while a fit runs, and when it can stop one.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fd
