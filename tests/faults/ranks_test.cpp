// Ranks that fail: each ends the fit on all ranks with what went wrong there, and nobody waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "device/backend.hpp"
#include "faults/injection.hpp"
#include "faults/whole_run.hpp"
#include "support/passed_on.hpp"

namespace fd::faults {
namespace {

enum class Where { load, panel, product, pair, gram };

// A rank's back-end that fails at one place, at its n-th time.
class Fails final : public test::PassedOn {
 public:
  Fails(std::unique_ptr<Backend> inner, Where where, long at) : PassedOn(std::move(inner)), where_(where), left_(at) {}

  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole) override {
    count(Where::load);
    return PassedOn::load(centred, precision, whole);
  }
  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    count(Where::panel);
    return PassedOn::panel(layout, columns, precision);
  }
  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    count(Where::product);
    PassedOn::xgemm(beta, x, w, y, watch, enough, negligible);
  }
  void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z, Share share,
                  Watch* watch, std::optional<Precision> enough, double negligible, Turn turn) override {
    count(Where::pair);
    PassedOn::xgemm_pair(beta, x, z, w_x, w_z, y_x, y_z, share, watch, enough, negligible, turn);
  }
  Eigen::MatrixXd gram(Columns a, Columns b) override {
    count(Where::gram);
    return PassedOn::gram(a, b);
  }

 private:
  void count(Where where) {
    if (where != where_ || --left_ != 0) return;
    if (where == Where::panel) throw std::bad_alloc();
    throw Error(Failure::device, "the card has fallen off the bus");
  }
  Where where_;
  long left_;
};

class FailingRank : public testing::TestWithParam<Where> {
 protected:
  void TearDown() override { decorate_backend = nullptr; }
};

TEST_P(FailingRank, EndsTheFitOnAll) {
  const Table points = few_points();
  Options options = few_modes();
  options.ranks = 3;
  options.rows_a_rank = 1;
  options.threads = 3;
  for (const int unlucky : {0, 1, 2})  // the order in which ranks open their back-ends is theirs: every one of three is tried
    for (const long at : {1L, 2L, 5L}) {
      std::atomic<int> made{0};
      decorate_backend = [&](std::unique_ptr<Backend> inner) -> std::unique_ptr<Backend> {
        if (inner->description().find("ranks") != std::string::npos) return inner;  // the one over all of them
        if (made++ != unlucky) return inner;
        return std::make_unique<Fails>(std::move(inner), GetParam(), at);
      };
      try {
        const Model model = fit(points.view(), options);
        EXPECT_TRUE(at > 1 || GetParam() == Where::pair) << "nothing failed";  // a place that is not reached so often
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), GetParam() == Where::panel ? Failure::memory : Failure::device) << error.what();
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(GetParam(), Where::panel);
      }
    }
  decorate_backend = nullptr;
  EXPECT_TRUE(fit(points.view(), options).converged);
}

INSTANTIATE_TEST_SUITE_P(Places, FailingRank,
                         testing::Values(Where::load, Where::panel, Where::product, Where::pair, Where::gram));

}  // namespace
}  // namespace fd::faults
