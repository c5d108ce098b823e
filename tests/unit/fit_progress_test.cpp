// What an observer is told while passes run.
#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace fd
