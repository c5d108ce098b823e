// What models of structured tables claim, against dense fp64: residuals are honest, nothing is missed, flags are true, in every precision
// and in cascades.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/model_claims.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const TableKind& kind : table_kinds()) all.emplace_back(kind.name);
  return all;
}

class StructuredClaims : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    for (const auto& [name, found] : worst)
      fmt::print("{:16} true residual over reported {:.3f} at most, {:.3f} of what the precision allows beside it\n", name,
                 found.ratio, found.share);
  }
  struct Worst {
    double ratio = 0, share = 0;
  };
  static inline std::map<std::string, Worst> worst;
};

TEST_P(StructuredClaims, AreTrueInEveryPrecision) {
  const Dataset data = make_table(GetParam(), 240, 12);
  using enum Precision;
  const std::vector<std::vector<Precision>> precisions = {{fp64}, {fp32}, {tf32}, {bf16}, {bf16, fp32}, {tf32, fp32, fp64}};
  for (const auto& precision : precisions)
    for (const double scale : {0.0, 2.0, 200.0})  // 0: the flow chooses
      for (const double tolerance : {1e-3, 1e-5}) {
        Options options;
        options.modes = 20;
        options.precision = precision;
        options.tolerance = tolerance;
        if (scale > 0) options.beta = scale * variance_beta(data);
        const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
        const ModelClaims claims(data, options, model);
        std::string name;
        for (const Precision p : precision) name += (name.empty() ? "" : ",") + std::string(traits(p).name);
        Worst& found = worst[name];
        found.ratio = std::max(found.ratio, claims.worst_ratio());
        found.share = std::max(found.share, claims.worst_share());
        for (const std::string& wrong : claims.false_ones())
          ADD_FAILURE() << wrong << "\n  " << traits(precision.back()).name << " (of " << precision.size() << "), beta "
                        << model.beta << ", tolerance " << tolerance << ": " << model.outcome;
      }
}

INSTANTIATE_TEST_SUITE_P(Kinds, StructuredClaims, testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fd::test
