// A fit that was interrupted and gone on with is the fit that was left alone, bit for bit, wherever the interruption came: between passes and within
// them, in probes, solves, extensions and searches without some rows.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include <flashdiffusion/flashdiffusion.hpp>

#include "base/archive.hpp"
#include "fit/journal.hpp"
#include "support/datasets.hpp"
#include "support/model_bytes.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

class MemoryCheckpoint final : public Checkpoint {
 public:
  std::string name() const override { return "memory"; }
  std::optional<std::vector<char>> load() override { return kept; }
  void save(const std::function<void(const Put&)>& write) override {
    std::vector<char> bytes;
    write([&](const void* data, std::size_t count) {
      if (bytes.size() + count > most_bytes) throw Error(Failure::io, "no room", "");
      bytes.insert(bytes.end(), static_cast<const char*>(data), static_cast<const char*>(data) + count);
    });
    kept = std::move(bytes);
    ++saves;
  }
  void remove() override { kept.reset(); }

  std::optional<std::vector<char>> kept;
  std::size_t saves = 0, most_bytes = std::size_t{1} << 30;
};

class StopsAt final : public Observer {
 public:
  explicit StopsAt(std::size_t call) : call_(call) {}
  bool stop() override { return ++calls >= call_; }
  void note(const std::string& line) override { notes.push_back(line); }
  std::size_t calls = 0;
  std::vector<std::string> notes;

 private:
  std::size_t call_;
};

constexpr std::size_t never = std::size_t{1} << 60;

struct Case {
  const char* name;
  Dataset data;
  Options options;
};

Dataset sheet_with_tail() {
  Dataset data = make_table("heavy_tails", 500, 6, 3);
  return data;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  Options flow;
  flow.modes = 4;
  all.push_back({"flow", torus(700), flow});
  Options restarts;
  restarts.modes = 12;
  restarts.beta = 0.5;
  restarts.block = 4;
  restarts.basis = 30;
  all.push_back({"restarts", torus(4200), restarts});
  Options aside;
  aside.modes = 5;
  all.push_back({"aside", sheet_with_tail(), aside});
  Options cascade;
  cascade.modes = 3;
  cascade.precision = {Precision::tf32, Precision::fp32, Precision::fp64};
  all.push_back({"cascade", torus(400), cascade});
  Options trimmed;
  trimmed.modes = 4;
  trimmed.trim = 0.02;
  trimmed.drop_localised = true;
  all.push_back({"trimmed", sheet_with_tail(), trimmed});
  return all;
}

Model fitted(const Case& problem, Checkpoint* checkpoint, Observer* observer, double every, int threads = 1) {
  Options options = problem.options;
  options.checkpoint = checkpoint;
  options.checkpoint_every = every;
  options.observer = observer;
  options.threads = threads;
  return fit(PointsView(problem.data.x.data(), problem.data.rows, problem.data.dimension), options);
}

class Resumed : public testing::TestWithParam<std::size_t> {};

TEST_P(Resumed, IsTheFitThatWasLeftAlone) {
  const Case problem = cases()[GetParam()];
  SCOPED_TRACE(problem.name);
  StopsAt counts(never);
  const ModelBytes alone(fitted(problem, nullptr, &counts, -1));
  std::size_t resumed = 0;
  for (std::size_t i = 1; i <= 12; ++i) {
    // within passes and between them: at the interruption alone (even), and with every step and pass kept (odd)
    StopsAt stops(1 + counts.calls * i / 13);
    MemoryCheckpoint checkpoint;
    const double every = i % 2 == 0 ? 1e9 : 0;
    EXPECT_THROW(fitted(problem, &checkpoint, &stops, every), Error);
    resumed += checkpoint.kept ? 1 : 0;
    // stopped once more on the way
    StopsAt again(1 + counts.calls / 5);
    try {
      fitted(problem, &checkpoint, &again, every, 2);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::interrupted) << error.what();
    }
    const Model model = fitted(problem, &checkpoint, nullptr, every, 2);
    EXPECT_TRUE(ModelBytes(model) == alone) << "stopped at call " << 1 + counts.calls * i / 13 << " of " << counts.calls;
    // what was left stays until the model is written, and leads to the same one again
    if (every == 0) {
      EXPECT_TRUE(checkpoint.kept);
      StopsAt second(never);
      EXPECT_TRUE(ModelBytes(fitted(problem, &checkpoint, &second, every)) == alone);
      EXPECT_LT(second.calls, counts.calls / 2);
    }
  }
  EXPECT_GE(resumed, 8u);
}

INSTANTIATE_TEST_SUITE_P(Cases, Resumed, testing::Range<std::size_t>(0, 5),
                         [](const auto& info) { return std::string(cases()[info.param].name); });

TEST(Resume, MakesNoPassTwice) {
  const Case problem = cases()[0];
  StopsAt alone(never), second(never);
  fitted(problem, nullptr, &alone, -1);
  StopsAt stops(alone.calls * 9 / 10);
  MemoryCheckpoint checkpoint;
  EXPECT_THROW(fitted(problem, &checkpoint, &stops, 0), Error);
  fitted(problem, &checkpoint, &second, 0);
  EXPECT_LT(second.calls, alone.calls / 3);
}

class NothingCarried final : public Journal::Rung {
  void archive_small(Archive&) override {}
  void archive_large(Archive&) override {}
};

TEST(Resume, WhatIsHeldOfAStepIsArchivedOnce) {
  MemoryCheckpoint checkpoint;
  Journal journal(&checkpoint, {}, 0, {});
  NothingCarried rung;
  const std::string mark = "held by somebody";
  const auto held = std::make_shared<std::string>(mark);
  journal.step(
      "a step", rung, [] {},
      [&](Archive&) { journal.hold<std::string>(held, [](Archive& large, std::string& text) { large(text); }); });
  ASSERT_TRUE(checkpoint.kept);
  const std::string bytes(checkpoint.kept->begin(), checkpoint.kept->end());
  const std::size_t first = bytes.find(mark);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(bytes.find(mark, first + 1), std::string::npos);
}

TEST(Resume, OtherFitsAreRefusedByWhatDiffers) {
  Case problem = cases()[0];
  MemoryCheckpoint checkpoint;
  StopsAt stops(60);
  EXPECT_THROW(fitted(problem, &checkpoint, &stops, 0), Error);
  ASSERT_TRUE(checkpoint.kept);
  const auto refusal = [&](const Case& other) -> std::string {
    try {
      fitted(other, &checkpoint, nullptr, 0);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::misuse);
      return error.what();
    }
    return "";
  };
  Case modes = problem, points = problem, seed = problem, trim = problem;
  trim.options.trim = 0.05;
  EXPECT_NE(refusal(trim).find("trim auto there, 0.05 here"), std::string::npos) << refusal(trim);
  modes.options.modes = 7;
  points.data.x[5] += 1e-3;
  seed.options.seed = 9;
  EXPECT_NE(refusal(modes).find("modes 4 there, 7 here"), std::string::npos) << refusal(modes);
  EXPECT_NE(refusal(points).find("checksum"), std::string::npos) << refusal(points);
  EXPECT_NE(refusal(seed).find("seed 42 there, 9 here"), std::string::npos) << refusal(seed);
  EXPECT_TRUE(checkpoint.kept);
}

TEST(Resume, AnotherShareToTrimIsAnotherFit) {
  Case problem = cases()[4];
  MemoryCheckpoint checkpoint;
  StopsAt stops(60);
  EXPECT_THROW(fitted(problem, &checkpoint, &stops, 0), Error);
  ASSERT_TRUE(checkpoint.kept);
  problem.options.trim = 0.0201;
  try {
    fitted(problem, &checkpoint, nullptr, 0);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::misuse);
    EXPECT_NE(std::string(error.what()).find("trim 0.02 there, 0.0201 here"), std::string::npos) << error.what();
  }
}

TEST(Resume, EveryCutOfACheckpointIsRefused) {
  const Case problem = cases()[0];
  MemoryCheckpoint checkpoint;
  StopsAt stops(60);
  EXPECT_THROW(fitted(problem, &checkpoint, &stops, 0), Error);
  ASSERT_TRUE(checkpoint.kept);
  const std::vector<char> whole = *checkpoint.kept;
  for (std::size_t i = 0; i < 40; ++i) {
    checkpoint.kept = std::vector<char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * i / 40));
    try {
      fitted(problem, &checkpoint, nullptr, 0);
      ADD_FAILURE() << "cut after " << whole.size() * i / 40 << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == Failure::input || error.kind() == Failure::misuse) << error.what();
    }
  }
}

TEST(Resume, ACheckpointThatCannotBeWrittenIsRemarkedOnOnce) {
  const Case problem = cases()[0];
  StopsAt counts(never);
  MemoryCheckpoint checkpoint;
  checkpoint.most_bytes = 1000;
  const Model model = fitted(problem, &checkpoint, &counts, 0);
  EXPECT_TRUE(ModelBytes(model) == ModelBytes(fitted(problem, nullptr, nullptr, -1)));
  EXPECT_EQ(checkpoint.saves, 0u);
  std::size_t remarks = 0;
  for (const std::string& note : counts.notes) remarks += note.find("checkpoint was not written") != std::string::npos ? 1 : 0;
  EXPECT_EQ(remarks, 1u);
}

}  // namespace
}  // namespace fd::test
