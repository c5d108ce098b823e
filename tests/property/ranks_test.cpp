// A fit by several ranks is the fit of one, but for rounding: the same bandwidth, the same number of passes, the same spectrum. And it ends as one does.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <flashdiffusion/flashdiffusion.hpp>

#include "backends/ranks/thread_ranks.hpp"
#include "support/model_bytes.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

Model fitted(const Dataset& data, int ranks, Precision precision, std::size_t modes, int threads = 2,
             std::optional<double> beta = {}) {
  Options options;
  options.beta = beta;
  options.modes = modes;
  options.ranks = ranks;
  options.rows_a_rank = 1;
  options.threads = threads;
  options.precision = {precision};
  return fit(PointsView(data.x.data(), data.rows, data.dimension), options);
}

struct RankCase {
  const char* table;
  std::size_t rows;
  Precision precision;
  std::optional<double> beta;  // where a search would turn on a rounding: clusters next to each other in eigenvalues
};
void PrintTo(const RankCase& c, std::ostream* out) { *out << c.table; }

class Ranks : public testing::TestWithParam<RankCase> {};

TEST_P(Ranks, AgreeWithOne) {
  const auto& [table, rows, precision, beta] = GetParam();
  const Dataset data = make_table(table, rows, 3, 5);
  constexpr std::size_t modes = 4;
  const Model alone = fitted(data, 1, precision, modes, 2, beta);
  const double allowed = precision == Precision::fp64 ? 1e-10 : 1e-6;
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    const Model shared = fitted(data, ranks, precision, modes, 2, beta);
    EXPECT_NEAR(shared.beta / alone.beta, 1, 1e-6);
    EXPECT_EQ(shared.passes, alone.passes);
    EXPECT_EQ(shared.converged, alone.converged);
    EXPECT_EQ(shared.aside, alone.aside);
    ASSERT_EQ(shared.modes(), alone.modes());
    for (std::size_t j = 0; j < alone.modes(); ++j) EXPECT_NEAR(shared.eigenvalues[j], alone.eigenvalues[j], allowed) << j;
    for (std::size_t i = 0; i < alone.n; ++i) EXPECT_NEAR(shared.q[i] / alone.q[i], 1, 100 * allowed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, Ranks,
    testing::Values(RankCase{"normal", 601, Precision::fp32, {}}, RankCase{"normal", 601, Precision::fp64, {}},
                    RankCase{"two_clusters", 300, Precision::fp32, 0.5}, RankCase{"heavy_tails", 500, Precision::fp32, {}}),
    [](const auto& info) { return std::string(info.param.table) + "_" + std::string(traits(info.param.precision).name); });

// Ranks of enough rows cut their points in parts when they visit; two ranks are each other's only visitor and share the tiles.
TEST(Ranks, AgreeWithOneWhereVisitorsComeInParts) {
  const Dataset data = make_table("normal", 16600, 3, 5);
  const Model alone = fitted(data, 1, Precision::fp32, 3, 2, 0.5), shared = fitted(data, 2, Precision::fp32, 3, 2, 0.5);
  EXPECT_EQ(shared.passes, alone.passes);
  ASSERT_EQ(shared.modes(), alone.modes());
  for (std::size_t j = 0; j < alone.modes(); ++j) EXPECT_NEAR(shared.eigenvalues[j], alone.eigenvalues[j], 1e-6) << j;
  for (std::size_t i = 0; i < alone.n; ++i) EXPECT_NEAR(shared.q[i] / alone.q[i], 1, 1e-4);
  EXPECT_TRUE(ModelBytes(fitted(data, 2, Precision::fp32, 3, 5, 0.5)) == ModelBytes(shared)) << "threads change bits";
}

// The search begins where all but one of the eigenvalues are next to nothing, and modes are made of rounding, which differs with the number of
// ranks. The bandwidth and the number of passes do not.
TEST(Ranks, ASearchThatBeginsInRoundingEndsAtTheSameBandwidth) {
  for (const std::uint64_t seed : {5, 7}) {
    SCOPED_TRACE(seed);
    const Dataset data = make_table("two_clusters", 300, 3, seed);
    const Model alone = fitted(data, 1, Precision::fp32, 4);
    for (const int ranks : {3, 5}) {
      SCOPED_TRACE(ranks);
      const Model shared = fitted(data, ranks, Precision::fp32, 4);
      EXPECT_NEAR(shared.beta / alone.beta, 1, 1e-6);
      EXPECT_EQ(shared.passes, alone.passes);
      ASSERT_EQ(shared.modes(), alone.modes());
      for (std::size_t j = 0; j < alone.modes(); ++j) EXPECT_NEAR(shared.eigenvalues[j], alone.eigenvalues[j], 1e-6) << j;
    }
  }
}

TEST(Ranks, SameBitsForAnyNumberOfThreadsAndRunAfterRun) {
  const Dataset data = make_table("normal", 701, 3, 5);
  const ModelBytes first(fitted(data, 3, Precision::fp32, 4, 3));
  for (const int threads : {3, 6, 9}) EXPECT_TRUE(ModelBytes(fitted(data, 3, Precision::fp32, 4, threads)) == first) << threads;
}

TEST(Ranks, MoreThanRows) {
  const Dataset data = make_table("normal", 7, 2, 5);
  Options options;
  options.modes = 2;
  options.beta = 0.5;
  const PointsView points(data.x.data(), data.rows, data.dimension);
  const Model alone = fit(points, options);
  options.ranks = 9;
  options.rows_a_rank = 1;
  const Model shared = fit(points, options);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(shared.eigenvalues[j], alone.eigenvalues[j], 1e-6);
}

// Ends what all ranks do after a number of looks at it.
class StopsAfter final : public Observer {
 public:
  explicit StopsAfter(int looks) : left_(looks) {}
  bool stop() override { return --left_ < 0; }

 private:
  int left_;
};

TEST(Ranks, AStopEndsAllAndTheNextFitIsSound) {
  const Dataset data = make_table("normal", 900, 3, 5);
  const ModelBytes whole(fitted(data, 3, Precision::fp32, 4, 3));
  for (const int looks : {0, 1, 2, 5, 9, 30, 100}) {
    Options options;
    options.modes = 4;
    options.ranks = 3;
    options.rows_a_rank = 1;
    options.threads = 3;
    StopsAfter observer(looks);
    options.observer = &observer;
    try {
      fit(PointsView(data.x.data(), data.rows, data.dimension), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::interrupted) << error.what();
    }
  }
  EXPECT_TRUE(ModelBytes(fitted(data, 3, Precision::fp32, 4, 3)) == whole);
}

// fit(points, options, comm) on every rank: the model on rank 0, and what went wrong on all.
struct Ended {
  std::atomic<int> models{0}, nothing{0}, errors{0};
  std::string what;
};
void fit_on_all(const Dataset& data, const Options& options, int size, Ended& ended) {
  const auto one = [&](Comm& comm) {
    try {
      const bool here = comm.rank() == 0;
      const auto model = fit(here ? PointsView(data.x.data(), data.rows, data.dimension) : PointsView(), options, comm);
      ++(model ? ended.models : ended.nothing);
    } catch (const Error& error) {
      ++ended.errors;
      if (comm.rank() == 0) ended.what = error.what();
    }
  };
  ranks::ThreadRanks threads(size, one);
  one(threads.rank0());
}

// Fits that follow each other on the same ranks: what ended one early does not end the next.
TEST(Ranks, AFitAfterOneThatWasStopped) {
  const Dataset data = make_table("normal", 500, 3, 5);
  Options options;
  options.modes = 3;
  options.beta = 0.5;
  options.rows_a_rank = 1;
  const auto serving = [](Comm& comm) { serve(comm); };
  ranks::ThreadRanks threads(3, serving);
  options.comm = &threads.rank0();
  const PointsView points(data.x.data(), data.rows, data.dimension);
  for (const int looks : {3, 6, 12}) {
    StopsAfter observer(looks);
    options.observer = &observer;
    try {
      fit(points, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::interrupted) << error.what();
    }
    options.observer = nullptr;
    EXPECT_TRUE(fit(points, options).converged);
  }
  dismiss(threads.rank0());
}

TEST(Ranks, TheModelIsOnRankZeroAndAnErrorOnAll) {
  Dataset data = make_table("normal", 400, 3, 5);
  Options options;
  options.modes = 3;
  options.rows_a_rank = 1;
  Ended good;
  fit_on_all(data, options, 3, good);
  EXPECT_EQ(good.models, 1);
  EXPECT_EQ(good.nothing, 2);
  data.x[data.x.size() - 2] = std::numeric_limits<float>::quiet_NaN();  // in the last rank's rows
  Ended bad;
  fit_on_all(data, options, 3, bad);
  EXPECT_EQ(bad.errors, 3);
  EXPECT_NE(bad.what.find("row 400"), std::string::npos) << bad.what;
  options.modes = 0;
  Ended misused;
  fit_on_all(data, options, 3, misused);
  EXPECT_EQ(misused.errors, 3);
}

}  // namespace
}  // namespace fd::test
