// What a back-end says that a product in low precision costs, in the norm of the normalised kernel, is never less than what it
// does cost.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Dense>

#include "contract/every_backend.hpp"
#include "support/worst_cases.hpp"

namespace fd::test {
namespace {

class LowPrecision : public testing::TestWithParam<Case> {
 protected:
  // K - I as the back-end makes it, column by column.
  static Eigen::MatrixXd kernel(Backend& backend, const Points& points, double beta, std::optional<Precision> enough) {
    const std::size_t n = points.rows();
    auto in = backend.panel(points.layout(), n, points.precision()), out = backend.panel(points.layout(), n, points.precision());
    const auto size = static_cast<Eigen::Index>(n);
    Eigen::MatrixXd k = Eigen::MatrixXd::Identity(size, size);
    backend.upload(k.data(), *in);
    backend.xgemm(beta, points, *in, *out, nullptr, enough);
    backend.download(*out, k.data());
    return k;
  }

  static std::vector<double> product(Backend& backend, const Points& points, double beta, std::optional<Precision> enough) {
    constexpr std::size_t columns = 3;
    auto in = backend.panel(points.layout(), columns, points.precision()),
         out = backend.panel(points.layout(), columns, points.precision());
    backend.randomize(*in, 3, 0);
    backend.xgemm(beta, points, *in, *out, nullptr, enough);
    std::vector<double> host(points.rows() * columns);
    backend.download(*out, host.data());
    return host;
  }

  // Largest singular value of a symmetric matrix, from below: the power method, whose Rayleigh quotients never exceed it.
  static double norm(const Eigen::MatrixXd& a) {
    Eigen::VectorXd v(a.rows());
    for (Eigen::Index i = 0; i < v.size(); ++i) v(i) = Random(1, 2).normal(static_cast<std::uint64_t>(i));
    double length = 0;
    for (int step = 0; step < 60; ++step) {
      v /= v.norm();
      v = (a * v).eval();
      length = v.norm();
      if (!(length > 0)) break;
    }
    return length;
  }

  // At bandwidths for which the largest row, scaled, has these norms.
  void compare(const char* name, const Dataset& x, const std::vector<double>& norms) {
    const auto tested = GetParam().make();
    ViewSource source(PointsView(x.x.data(), x.rows, x.dimension));
    const auto points = tested->load(source, Precision::fp32);
    for (const double size : Case::some(norms, 16)) {
      const double beta = beta_for_norm(x, size), reported = tested->low_precision_error(beta, *points, Precision::tf32);
      if (reported == 0) {  // then it is the same arithmetic
        EXPECT_EQ(product(*tested, *points, beta, {}), product(*tested, *points, beta, Precision::tf32))
            << name << ", norm " << size;
        continue;
      }
      const Eigen::MatrixXd exact = kernel(*tested, *points, beta, {}), low = kernel(*tested, *points, beta, Precision::tf32);
      const Eigen::VectorXd s = (exact.rowwise().sum().array() + 1).rsqrt();
      EXPECT_LE(norm(s.asDiagonal() * (low - exact) * s.asDiagonal()), reported) << name << ", norm " << size;
    }
  }
};

TEST_P(LowPrecision, IsNeverLessThanTheErrorInTheNorm) {
  for (const auto& [name, x] : worst_cases())
    if (!Case::slow() || x.dimension < 100) compare(name, x, {1.3, 2.7, 3.9, 5.3});
  compare("torus", torus(Case::rows(200)), {1.3, 2.7, 3.9, 5.3});
  compare("plane", gaussian(Case::rows(200), 2), {1.3, 2.7, 3.9, 5.3});
  compare("noise in 50 dimensions", gaussian(Case::rows(200), 50), {1.3, 2.7, 3.9, 5.3});
}

// Every bandwidth rounds differently, and on such a table all pairs of rows alike.
TEST_P(LowPrecision, HoldsForManyRoundings) {
  std::vector<double> norms;
  for (double norm = 1.8; norm < 2.8; norm += 0.021) norms.push_back(norm);
  compare("Hadamard", Case::slow() ? hadamard(32, 256) : hadamard(128, 1024), norms);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, LowPrecision, testing::ValuesIn(every_backend({Precision::fp32})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
