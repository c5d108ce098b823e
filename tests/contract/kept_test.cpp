// What a back-end keeps of the kernel from pass to pass changes no bit of a result: whatever memory it was offered, whichever bandwidths,
// widths and points come one after another, on any number of threads.
#include <gtest/gtest.h>

#include <vector>

#include "contract/every_backend.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

class Kept : public testing::TestWithParam<Case> {
 protected:
  using Results = std::vector<std::vector<double>>;

  static std::unique_ptr<Points> load(Backend& backend, const Dataset& data) {
    ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
    return backend.load(source, GetParam().precision);
  }

  static std::vector<double> pass(Backend& backend, const Points& points, double beta, std::size_t columns) {
    auto in = backend.panel(points.layout(), columns, GetParam().precision),
         out = backend.panel(points.layout(), columns, GetParam().precision);
    backend.randomize(*in, 7, 0);
    if (columns == 2) backend.mass(beta, points, *out, nullptr);
    else backend.xgemm(beta, points, *in, *out, nullptr);
    std::vector<double> host(points.rows() * columns);
    backend.download(*out, host.data());
    return host;
  }

  // To a back-end that keeps nothing, room for more or less, and one bandwidth or several, are the same: one other pass says so.
  static bool keeps(std::size_t bytes) {
    for (const bool one_bandwidth : {false, true})
      for (const std::size_t dimension : {std::size_t{15}, std::size_t{40}})
        if (GetParam().make(1, bytes, one_bandwidth)->kept(250, dimension, GetParam().precision).bytes > 0) return true;
    return false;
  }

  // Two tables in turn; bandwidths that share tiles and some that do not, from where all entries are alike to where most underflow. A back-end that
  // was promised one bandwidth keeps something else, and its results are right at others too.
  static Results passes(std::size_t keep_bytes, int threads, bool one_bandwidth, std::size_t fewer_columns = 0) {
    const auto backend = GetParam().make(threads, keep_bytes, one_bandwidth);
    const Dataset wide =
        table_of(Case::rows(250), 40 - fewer_columns, [](std::size_t i, std::size_t c) { return normal_at(1, 0, i, c); });
    const Dataset far = table_of(Case::rows(200), 30 - fewer_columns, [](std::size_t i, std::size_t c) {
      return normal_at(2, 0, i, c) + (c == 0 ? 30.0 * static_cast<double>(i / 40) : 0.0);
    });
    const auto first = load(*backend, wide), second = load(*backend, far);
    Results results;
    for (const double beta : Case::some<double>({0.01, 0.012, 0.04, 0.012, 0.9}, 4))
      for (const std::size_t columns : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{20}})
        for (const Points* points : {first.get(), second.get()}) {
          results.push_back(pass(*backend, *points, beta, columns));
          results.push_back(pass(*backend, *points, beta, columns));
        }
    return results;
  }
};

TEST_P(Kept, TilesChangeNoBit) {
  const std::size_t value = traits(GetParam().precision).wide_panels ? 8 : 4, all = 250 * 250 * value;
  const Results expected = passes(0, 1, false);
  if (!keeps(all)) {
    EXPECT_EQ(passes(all, 3, true), expected);
    return;
  }
  for (const bool one_bandwidth : Case::some<bool>({false, true}, 2))
    for (const std::size_t bytes : {all, all / 4, std::size_t{20000}})
      for (const int threads : Case::some<int>({1, 2, 3}, 3))
        EXPECT_EQ(passes(bytes, threads, one_bandwidth), expected)
            << bytes << " bytes, " << threads << " threads" << (one_bandwidth ? ", entries" : "");
}

// With few columns entries alone are kept.
TEST_P(Kept, EntriesOfFewColumnsChangeNoBit) {
  const Results expected = passes(0, 1, true, 25);
  if (!keeps(1000000)) {
    EXPECT_EQ(passes(1000000, 3, true, 25), expected);
    return;
  }
  for (const std::size_t bytes : Case::some<std::size_t>({1000000, 60000}, 2))
    for (const int threads : Case::some<int>({1, 3}, 2))
      EXPECT_EQ(passes(bytes, threads, true, 25), expected) << bytes << " bytes, " << threads << " threads";
}

// One set of tiles does for many bandwidths, and each keeps the promise: rows of K - I, which are sums of positive numbers.
TEST_P(Kept, TilesKeepThePromiseAtEveryBandwidth) {
  const Dataset data = table_of(Case::rows(300), 64, [](std::size_t i, std::size_t c) { return normal_at(3, 0, i % 290, c); });
  const auto tested = GetParam().make(2, 100000000), oracle = make_oracle();
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  const auto points = tested->load(source, GetParam().precision), exact = oracle->load(source, Precision::fp64);
  for (const double beta : Case::some<double>({0.0101, 0.0105, 0.012, 0.0157, 0.02, 0.026, 0.05, 0.3})) {
    auto sums = tested->panel(points->layout(), 2, GetParam().precision),
         expected = oracle->panel(exact->layout(), 2, Precision::fp64);
    tested->mass(beta, *points, *sums, nullptr);
    oracle->mass(beta, *exact, *expected, nullptr);
    std::vector<double> host(2 * data.rows), right(2 * data.rows);
    tested->download(*sums, host.data());
    oracle->download(*expected, right.data());
    for (std::size_t i = 0; i < data.rows; ++i)
      EXPECT_NEAR(host[2 * i], right[2 * i], traits(GetParam().precision).row_error * (1 + right[2 * i]))
          << beta << ", row " << i;
  }
}

TEST_P(Kept, AreNoMoreThanWasOffered) {
  const auto backend = GetParam().make(1, 1000000);
  for (const std::size_t rows : {std::size_t{100}, std::size_t{100000}}) {
    const Backend::Kept kept = backend->kept(rows, 100, GetParam().precision);
    EXPECT_LE(kept.bytes, 1000000);
    EXPECT_LE(kept.share, 1);
    EXPECT_GE(kept.share, 0);
  }
  EXPECT_EQ(GetParam().make(1, 0)->kept(1000, 100, GetParam().precision).bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Kept, testing::ValuesIn(every_backend({Precision::fp64, Precision::fp32, Precision::tf32})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
