// The operator from its sums: mass, degree, what a walker does on each row, which rows take part, refused sums, and low-precision passes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "operator/diffusion_operator.hpp"
#include "support/datasets.hpp"
#include "support/dense_diffusion.hpp"
#include "support/passed_on.hpp"

namespace fd::test {
namespace {

// A back-end whose sums a test may spoil, and which says what low-precision products cost.
class Spoilt final : public PassedOn {
 public:
  Spoilt() : PassedOn(make_backend({"reference", "", 1})) {}
  void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible) override {
    PassedOn::mass(beta, x, y, watch, negligible);
    if (!spoil_mass) return;
    std::vector<double> sums(x.rows() * y.count);
    download(y, sums.data());
    spoil_mass(sums);
    upload(sums.data(), y);
  }
  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    last_enough = enough;
    PassedOn::xgemm(beta, x, w, y, watch, {}, negligible);
  }
  double low_precision_error(double, const Points&, Precision) const override { return low_precision; }

  std::function<void(std::vector<double>&)> spoil_mass;
  double low_precision = 0;
  std::optional<Precision> last_enough;
};

class DiffusionOperatorOf : public testing::Test {
 protected:
  static constexpr double beta = 0.7;
  Dataset data = gaussian(60, 3, 5);
  Spoilt backend;
  Space space{backend, Precision::fp64};
  ViewSource source{PointsView(data.x.data(), data.rows, data.dimension)};
  std::unique_ptr<Points> points = backend.load(source, Precision::fp64, {});

  DiffusionOperator make(double alpha, const RowRule& rule = {}) {
    return DiffusionOperator(space, *points, beta, alpha, nullptr, {}, rule);
  }
};

TEST_F(DiffusionOperatorOf, SumsAreThoseOfTheRowsThatTakePart) {
  const Eigen::MatrixXd kernel = dense_kernel(data, beta);
  const Eigen::VectorXd q = kernel.rowwise().sum();
  for (const double alpha : {0.0, 0.5, 1.0})
    for (const std::size_t most : {0, 7}) {
      SCOPED_TRACE(testing::Message() << "alpha " << alpha << ", " << most << " aside");
      RowRule rule;
      if (most > 0) rule.most_return = 0, rule.most_rows = most;
      const DiffusionOperator m = make(alpha, rule);
      const Eigen::VectorXd w = q.array().pow(-alpha);
      const Eigen::VectorXd stays = w.array() / (kernel * w).array();
      std::vector<double> largest(stays.data(), stays.data() + stays.size());
      std::sort(largest.rbegin(), largest.rend());
      const auto takes_part = [&](Eigen::Index i) { return most == 0 || stays[i] < largest[most - 1]; };
      Eigen::VectorXd part = w;
      double off = 0, off_2beta = 0;
      for (Eigen::Index i = 0; i < part.size(); ++i)
        if (!takes_part(i)) {
          part[i] = 0;
        } else {
          off += q[i] - 1;
          off_2beta += kernel.row(i).squaredNorm() - 1;
        }
      const Eigen::VectorXd d = part.array() * (kernel * part).array();
      ASSERT_EQ(m.aside(), most);
      EXPECT_NEAR(m.s_off(), off, 1e-11 * off);
      EXPECT_NEAR(m.s_off_2beta(), off_2beta, 1e-11 * off_2beta);
      ASSERT_EQ(m.return_probability().size(), most > 0 ? data.rows : 0);
      for (std::size_t i = 0; i < data.rows; ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        EXPECT_NEAR(m.mass()[i], q[row], 1e-12 * q[row]);
        EXPECT_NEAR(m.degree()[i], d[row], 1e-12);
        if (most > 0) {
          EXPECT_NEAR(m.return_probability()[i], stays[row], 1e-12);
        }
      }
    }
}

TEST_F(DiffusionOperatorOf, SumsThatNoKernelHasAreRefused) {
  for (const double sum : {-0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    backend.spoil_mass = [sum](std::vector<double>& sums) { sums[2 * 17] = sum; };
    EXPECT_THROW(make(0), Error) << sum;
    EXPECT_THROW(make(0.5), Error) << sum;
  }
}

TEST_F(DiffusionOperatorOf, LowPrecisionIsUsedWhereItsErrorIsPermittedAndSaysWhatItIs) {
  DiffusionOperator m = make(0.5);
  auto in = space.panel(points->layout(), 2), out = space.panel(points->layout(), 2);
  space.randomize(*in, 1, 1);
  backend.low_precision = 1e-3;
  EXPECT_EQ(m.apply_low_precision(*in, *out, 1e-2), 1e-3);
  EXPECT_EQ(backend.last_enough, Precision::tf32);
  EXPECT_EQ(m.apply_low_precision(*in, *out, 1e-4), 0);
  EXPECT_EQ(backend.last_enough, std::nullopt);
  backend.low_precision = 0;  // nothing cheaper there
  EXPECT_EQ(m.apply_low_precision(*in, *out, 1e-2), 0);
  EXPECT_EQ(backend.last_enough, std::nullopt);
}

}  // namespace
}  // namespace fd::test
