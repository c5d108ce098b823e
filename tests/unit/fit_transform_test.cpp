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

struct Notes : Observer {
  std::vector<std::string> lines;
  void note(const std::string& line) override { lines.push_back(line); }
};

// The extension as written, with exponents relative to the largest in long double: nothing underflows.
std::vector<double> extension_at(const Model& model, const double* x) {
  std::vector<long double> exponent(model.n);
  long double largest = -std::numeric_limits<long double>::infinity(), total = 0;
  for (std::size_t i = 0; i < model.n; ++i) {
    long double square = 0;
    for (std::size_t c = 0; c < model.dimension; ++c) {
      const long double z = model.points(i, c);
      square += z * z - 2 * (static_cast<long double>(x[c]) - model.mean[c]) * z;  // |x - z|^2 - |x|^2
    }
    exponent[i] = model.d[i] > 0 ? -model.beta * square : -std::numeric_limits<long double>::infinity();
    largest = std::max(largest, exponent[i]);
  }
  std::vector<long double> sums(model.modes());
  for (std::size_t i = 0; i < model.n; ++i) {
    const long double weight = std::exp(exponent[i] - largest) * std::pow(model.q[i], -model.alpha);
    total += weight;
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += weight * model.psi(i, j);
  }
  std::vector<double> out;
  for (const long double sum : sums) out.push_back(static_cast<double>(sum / total));
  return out;
}

TEST(Transform, RowsOutOfReachGoWhereTheExtensionTends) {
  auto x = cloud(200, 3);
  x.insert(x.end(), {59, 1, 1, 59, 1, 1});
  Model model = fitted(x, 3);
  model.d[200] = model.d[201] = 0;  // as if set aside: next to what follows, and without weight
  // Near, far, absurdly far (its square overflows a float and would spoil the rows it is packed with), as far as doubles go, near.
  const std::vector<double> fresh = {0.1, 0.2, 0.3, 60, 0.3, 0.1, 1e30, -1e30, 2e29, -1e308, 1e308, 1e308, -0.2, 0.1, 0};
  for (const int threads : {1, 3}) {
    ViewSource source(PointsView(fresh.data(), 5, 3));
    Options options;
    Notes notes;
    options.threads = threads;
    options.observer = &notes;
    std::vector<std::size_t> beyond_reach;
    const Table y = model.transform(source, 1, options, &beyond_reach);
    EXPECT_EQ(beyond_reach, (std::vector<std::size_t>{1, 2, 3}));
    ASSERT_EQ(notes.lines.size(), 1u);
    EXPECT_NE(notes.lines[0].find("3 of 5 rows are beyond the kernel's reach of every fitted row (rows 2, 3, 4, counted from 1)"),
              std::string::npos)
        << notes.lines[0];
    for (std::size_t i = 0; i < 5; ++i) {
      const auto wanted = extension_at(model, fresh.data() + 3 * i);
      for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(y(i, j), wanted[j], 1e-5) << i << " " << j;
    }
  }
  EXPECT_EQ(failure_of([&] {
              const double bad[] = {0, nan, 0};
              model.transform(PointsView(bad, 1, 3));
            }),
            Failure::input);
}

// More of them than a task takes: the same bits for any number of threads.
TEST(Transform, ManyRowsOutOfReach) {
  const auto x = cloud(700, 2);
  const Model model = fitted(x, 2);
  std::vector<double> fresh = cloud(2500, 2);
  for (double& value : fresh) value = 100 + 5 * value;
  std::vector<Table> made;
  for (const int threads : {1, 2, 5}) {
    ViewSource source(PointsView(fresh.data(), 2500, 2));
    Options options;
    options.threads = threads;
    made.push_back(model.transform(source, 1, options));
  }
  for (std::size_t i = 0; i < 2500; ++i) {
    const auto wanted = extension_at(model, fresh.data() + 2 * i);
    for (std::size_t j = 0; j < 3; ++j) {
      ASSERT_EQ(made[0](i, j), made[1](i, j));
      ASSERT_EQ(made[0](i, j), made[2](i, j));
      ASSERT_NEAR(made[0](i, j), wanted[j], 1e-5);
    }
  }
}

// What the fit says of a row that it set aside, and what transform says of the same row.
TEST(Transform, RowsSetAsideAreWhereTheFitPutThem) {
  auto x = cloud(300, 2);
  x.insert(x.end(), {500, 500, 7, 7, -4000, 20});
  Options options;
  options.modes = 3;
  options.trim = 0.01;
  const Model model = fit(PointsView(x.data(), 303, 2), options);
  ASSERT_EQ(model.aside.size(), 3u);
  ViewSource source(PointsView(x.data(), 303, 2));
  const Table again = model.transform(source, 1, options), fitted = model.embedding();
  for (std::size_t i = 0; i < 303; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(again(i, j), fitted(i, j), 2e-4) << i << " " << j;
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
  place_rows(model, source, {100, 101}, options);
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

// Rounding may leave an eigenvalue above 1; its powers must not grow.
TEST(Transform, EigenvaluesAboveOneCountAsOne) {
  const auto x = cloud(80, 2);
  Model model = fitted(x, 2);
  model.eigenvalues[0] = 1 + 4.8e-7;
  const auto largest = [](const auto& values) {
    double most = 0;
    for (const double value : values) most = std::isfinite(value) ? std::max(most, std::abs(value)) : 1e300;
    return most;
  };
  EXPECT_LT(largest(model.transform(PointsView(x.data(), 80, 2), 1e9)), 100);
  EXPECT_LT(model.embedding(1e9).visit(largest), 100);
  EXPECT_GT(model.embedding(1e9).visit(largest), 0.5);
}

TEST(Transform, ADamagedModelIsAnErrorAndNoNumbers) {
  const auto x = cloud(80, 2);
  Model model = fitted(x, 2);
  model.q[17] = 1e-90;
  EXPECT_EQ(failure_of([&] { model.transform(PointsView(x.data(), 80, 2)); }), Failure::input);
  model = fitted(x, 2);
  for (std::size_t i = 0; i < model.n; ++i) model.psi.set(i, 1, 3e38);
  EXPECT_EQ(failure_of([&] { model.transform(PointsView(x.data(), 80, 2)); }), Failure::input);
}

// What fp64 holds is not refused because fp32 would not hold it.
TEST(RowsToTrim, TakeThePrecisionOfTheFit) {
  auto x = cloud(200, 2);
  x[2 * 17] = 1e40;
  ViewSource source(PointsView(x.data(), 200, 2));
  ProgressWatch watch(nullptr);
  Options options;
  options.threads = 1;
  options.trim = 0.005;
  EXPECT_EQ(failure_of([&] { rows_to_trim(source, options, watch); }), Failure::input);
  options.precision = {Precision::fp64};
  EXPECT_EQ(rows_to_trim(source, options, watch), std::vector<std::size_t>{17});
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
