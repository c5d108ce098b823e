// Coordinates of new points, and the points a model keeps for them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <flashdiffusion/flashdiffusion.hpp>

#include "base/points_checksum.hpp"
#include "fit/checksummed_source.hpp"
#include "fit/kept_points.hpp"
#include "fit/progress_watch.hpp"
#include "fit/trim.hpp"

namespace fd {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> cloud(std::size_t rows, std::size_t dimension) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values(rows * dimension);
  for (double& value : values) value = normal(random);
  return values;
}

Model fitted(const std::vector<double>& x, std::size_t dimension, Precision precision = Precision::fp32) {
  Options options;
  options.modes = 3;
  options.beta = 0.5;
  options.threads = 1;
  options.precision = {precision};
  return fit(PointsView(x.data(), x.size() / dimension, dimension), options);
}

Failure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no Error";
  return Failure::device;
}

TEST(Transform, RowsOutOfReachAreNaN) {
  const auto x = cloud(200, 3);
  const Model model = fitted(x, 3);
  // Near, far, absurdly far (its square overflows a float and would spoil the rows it is packed with), near.
  const std::vector<double> fresh = {0.1, 0.2, 0.3, 60, 0, 0, 1e30, -1e30, 0, -0.2, 0.1, 0};
  const auto y = model.transform(PointsView(fresh.data(), 4, 3));
  const auto alone = model.transform(PointsView(fresh.data(), 1, 3)), last = model.transform(PointsView(fresh.data() + 9, 1, 3));
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(y[j], alone[j], 1e-6);
    EXPECT_TRUE(std::isnan(y[3 + j]));
    EXPECT_TRUE(std::isnan(y[6 + j]));
    EXPECT_NEAR(y[9 + j], last[j], 1e-6);
  }
  EXPECT_EQ(failure_of([&] {
              const double bad[] = {0, nan, 0};
              model.transform(PointsView(bad, 1, 3));
            }),
            Failure::input);
}

TEST(Transform, Times) {
  const auto x = cloud(100, 2);
  Model model = fitted(x, 2);
  const PointsView view(x.data(), 100, 2);
  for (const double bad : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(failure_of([&] { model.transform(view, bad); }), Failure::misuse);
    EXPECT_EQ(failure_of([&] { model.embedding(bad); }), Failure::misuse);
  }
  for (const double lambda : {-1e-9, 0.0}) {
    model.eigenvalues[2] = lambda;
    const auto half = model.transform(view, 0.5), twice = model.transform(view, 2);
    const Table own = model.embedding(0.5), start = model.embedding(0);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(half[i * 3 + 2], 0);
      EXPECT_EQ(own(i, 2), 0);
      EXPECT_EQ(start(i, 2), model.psi(i, 2));
      EXPECT_TRUE(std::isfinite(twice[i * 3 + 2]));
      EXPECT_TRUE(std::isfinite(half[i * 3]));
    }
  }
}

struct Notes : Observer {
  std::vector<std::string> lines;
  void note(const std::string& line) override { lines.push_back(line); }
};

// Before time 1 an extension is divided by lambda. Where that is rounding, so is what is divided, and 0 is nearer than their quotient.
TEST(Transform, NothingIsDividedByRounding) {
  const auto x = cloud(100, 2);
  for (const Precision precision : {Precision::fp32, Precision::fp64})
    for (const double share : {0.0, 0.5, -1.0, 3.0}) {
      Model model = fitted(x, 2, precision);
      model.eigenvalues[2] = share * traits(precision).row_error;
      ViewSource source(PointsView(x.data(), 100, 2));
      Notes notes;
      Options options;
      options.observer = &notes;
      const Table start = model.transform(source, 0, options);
      const bool rounding = std::abs(share) <= 1;
      ASSERT_EQ(notes.lines.size(), rounding ? 1u : 0u);
      for (const std::string& line : notes.lines)
        EXPECT_NE(line.find("1 of 3 eigenvalues is 0 as far as"), std::string::npos) << line;
      for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(start(i, 2) == 0, rounding) << i;
        EXPECT_NEAR(start(i, 0), model.psi(i, 0), 1e-3);
      }
    }
}

// Rows placed after a fit, within the kernel's reach and beyond it.
TEST(PlaceRows, AnEigenvalueOfZeroLeavesFiniteModes) {
  auto x = cloud(100, 2);
  Model model = fitted(x, 2);
  model.eigenvalues[1] = 0;
  model.eigenvalues[2] = 1e-42;  // 1 / it is no float
  x.insert(x.end(), {0.1, 0.2, 1e5, 1e5});
  ViewSource source(PointsView(x.data(), 102, 2));
  Options options;
  ProgressWatch watch(nullptr);
  place_rows(model, source, {100, 101}, options, watch);
  ASSERT_EQ(model.n, 102u);
  for (const std::size_t row : {100u, 101u}) {
    EXPECT_TRUE(std::isfinite(model.psi(row, 0)));
    EXPECT_NE(model.psi(row, 0), 0);
    EXPECT_EQ(model.psi(row, 1), 0);
    EXPECT_EQ(model.psi(row, 2), 0);
  }
}

TEST(Transform, AModelWithoutPointsSaysWhatItNeeds) {
  const auto x = cloud(50, 2);
  Model model = fitted(x, 2);
  model.points = Table();
  try {
    model.transform(PointsView(x.data(), 50, 2));
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("`points`"), std::string::npos) << error.hint();
    EXPECT_EQ(error.hint().find("--"), std::string::npos) << error.hint();
  }
}

TEST(Transform, NullPointersAndMissingArrays) {
  const auto x = cloud(50, 2);
  Model model = fitted(x, 2);
  EXPECT_EQ(failure_of([&] { model.transform(PointsView(static_cast<const float*>(nullptr), 5, 2)); }), Failure::misuse);
  EXPECT_EQ(failure_of([] { fit(PointsView(static_cast<const double*>(nullptr), 50, 2), Options()); }), Failure::misuse);
  Model hollow = model;
  hollow.q.clear();
  EXPECT_EQ(failure_of([&] { hollow.transform(PointsView(x.data(), 50, 2)); }), Failure::misuse);
  hollow = model;
  hollow.psi = Table();
  EXPECT_EQ(failure_of([&] { hollow.embedding(); }), Failure::misuse);
}

TEST(KeptPoints, FloatUnlessThatMovesThem) {
  auto x = cloud(200, 3);
  const auto kept = [&] {
    ViewSource source(PointsView(x.data(), 200, 3));
    std::vector<double> mean(3, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) mean[i % 3] += x[i] / 200;
    return kept_points(source, mean, 0.5, false);
  };
  EXPECT_FALSE(kept().wide());
  x[301] = 1e9;  // moves the mean of its column by 5e6, which float keeps to 0.25
  const Table table = kept();
  EXPECT_TRUE(table.wide());
  EXPECT_NEAR(table(3, 1) - table(4, 1), x[10] - x[13], 1e-8);
}

TEST(PointsChecksum, ValuesInOrder) {
  const auto x = cloud(100, 3);
  const auto sum = [](const std::vector<double>& values) {
    ViewSource source(PointsView(values.data(), values.size() / 3, 3));
    return points_checksum(source);
  };
  PointsChecksum pieces;
  pieces.add(x.data(), 7);
  pieces.add(x.data() + 7, x.size() - 7);
  EXPECT_EQ(pieces.value(), sum(x));
  auto other = x;
  std::swap_ranges(other.begin(), other.begin() + 3, other.end() - 3);
  EXPECT_NE(sum(other), sum(x));
  other = x;
  other[100] = std::nextafter(other[100], 9.0);
  EXPECT_NE(sum(other), sum(x));
  // Small whole numbers have no low bits: order must count all the same.
  EXPECT_NE(sum({1, 2, 3, 4, 5, 6}), sum({4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(sum({0.0, 2, 3}), sum({-0.0, 2, 3}));
  EXPECT_EQ(fitted(x, 3).points_checksum, sum(x));
}

// A file that is rewritten while it is fitted.
class Changing final : public PointSource {
 public:
  explicit Changing(std::vector<double> x) : x_(std::move(x)) {}
  std::size_t rows() const override { return x_.size() / 3; }
  std::size_t dimension() const override { return 3; }
  void read(std::size_t first, std::size_t count, double* out) override {
    std::copy_n(x_.begin() + static_cast<std::ptrdiff_t>(first * 3), count * 3, out);
    if (++reads_ == 2) x_[5] += 1;
  }

 private:
  std::vector<double> x_;
  int reads_ = 0;
};

TEST(PointsChecksum, ChangesDuringAFitAreFound) {
  Changing source(cloud(100, 3));
  Options options;
  options.modes = 3;
  options.beta = 0.5;
  EXPECT_EQ(failure_of([&] { fit(source, options); }), Failure::io);
}

}  // namespace
}  // namespace fd
