// NaN and infinity out of the n-th kernel product, for every n of a fit: it ends, with an error, with "not converged", or with numbers
// that are right; it never calls anything else converged.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <flashdiffusion/error.hpp>

#include "faults/injection.hpp"
#include "faults/whole_run.hpp"
#include "support/passed_on.hpp"

namespace fd::faults {
namespace {

struct Endless {};  // far more products than any of these fits needs

// Spoils what one product gives.
class Spoiled final : public test::PassedOn {
 public:
  Spoiled(std::unique_ptr<Backend> inner, double value, bool everywhere, long at, long& products)
      : PassedOn(std::move(inner)), value_(value), everywhere_(everywhere), at_(at), products_(products) {}

  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    PassedOn::xgemm(beta, x, w, y, watch, enough, negligible);
    spoil(y);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough) override {
    PassedOn::xgemm(beta, x, z, w, y, watch, enough);
    spoil(y);
  }
  void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible) override {
    PassedOn::mass(beta, x, y, watch, negligible);
    spoil(y);
  }

 private:
  void spoil(Columns y) {
    constexpr long most = 5000;
    if (++products_ > most) throw Endless{};
    if (products_ != at_) return;
    std::vector<double> values(y.rows() * y.count);
    download(y, values.data());
    if (everywhere_) values.assign(values.size(), value_);
    else values[values.size() / 2] = value_;
    upload(values.data(), y);
  }

  double value_;
  bool everywhere_;
  long at_;
  long& products_;
};

struct Case {
  const char* name;
  double value;
  bool everywhere, flow;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Kernel : public ::testing::TestWithParam<Case> {
 protected:
  void TearDown() override { decorate_backend = nullptr; }
};

Model clean_fit_at(const Table& points, Options options, double beta) {
  decorate_backend = nullptr;
  options.beta = beta;
  return fit(points.view(), options);
}

TEST_P(Kernel, EveryProductMayBeSpoiled) {
  const Table points = few_points();
  Options options = few_modes();
  if (GetParam().flow) options.beta.reset();
  bool reached = true;
  for (long n = 1; reached; ++n) {
    SCOPED_TRACE("product " + std::to_string(n));
    long products = 0;
    decorate_backend = [&](std::unique_ptr<Backend> inner) {
      return std::make_unique<Spoiled>(std::move(inner), GetParam().value, GetParam().everywhere, n, products);
    };
    try {
      const Model model = fit(points.view(), options);
      reached = products >= n;
      for (const double value : model.eigenvalues) EXPECT_FALSE(model.converged && !std::isfinite(value));
      if (!model.converged) {
        EXPECT_TRUE(reached) << "nothing was spoiled: " << model.outcome;
        EXPECT_FALSE(model.outcome.empty());
        continue;
      }
      const Model clean = clean_fit_at(points, options, model.beta);
      ASSERT_EQ(model.modes(), clean.modes());
      for (std::size_t j = 0; j < clean.modes(); ++j) {
        EXPECT_LE(std::abs(model.eigenvalues[j] - clean.eigenvalues[j]), 2 * options.tolerance);
        EXPECT_LE(model.residuals[j], options.tolerance);
      }
      for (std::size_t i = 0; i < clean.n; ++i) {
        EXPECT_LE(std::abs(model.q[i] / clean.q[i] - 1), 1e-5);
        EXPECT_LE(std::abs(model.d[i] / clean.d[i] - 1), 1e-5);
        for (std::size_t j = 0; j < clean.modes(); ++j) EXPECT_LE(std::abs(model.psi(i, j) - clean.psi(i, j)), 1e-2);
      }
    } catch (const Error& error) {
      reached = products >= n;
      EXPECT_TRUE(reached) << error.what();
    } catch (const Endless&) {
      FAIL() << "the fit does not end";
    }
    if (HasFailure()) return;
  }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
INSTANTIATE_TEST_SUITE_P(Fit, Kernel,
                         ::testing::Values(Case{"NanInOnePlace", nan, false, false}, Case{"NanEverywhere", nan, true, false},
                                           Case{"InfinityInOnePlace", infinity, false, false},
                                           Case{"NanInOnePlaceWithFlow", nan, false, true},
                                           Case{"NanEverywhereWithFlow", nan, true, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fd::faults
