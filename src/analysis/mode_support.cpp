#include "analysis/mode_support.hpp"

#include <algorithm>

namespace fd {
namespace {

// In front of one another by share, equal ones by row.
bool before(const RowShare& a, const RowShare& b) { return a.share != b.share ? a.share > b.share : a.row < b.row; }

}  // namespace

std::vector<ModeSupport> mode_supports(const Model& model, std::size_t carriers) {
  const std::size_t modes = model.psi.columns();
  std::vector<double> second(modes), fourth(modes);
  std::vector<ModeSupport> supports(modes);
  for (std::size_t i = 0; i < model.psi.rows(); ++i) {
    if (model.d[i] == 0) continue;
    for (std::size_t j = 0; j < modes; ++j) {
      const double psi = model.psi(i, j), square = model.d[i] * psi * psi;
      second[j] += square;
      fourth[j] += square * square;
      auto& largest = supports[j].carriers;
      const RowShare here{i, square};
      if (largest.size() == carriers && (carriers == 0 || !before(here, largest.back()))) continue;
      largest.insert(std::upper_bound(largest.begin(), largest.end(), here, before), here);
      if (largest.size() > carriers) largest.pop_back();
    }
  }
  for (std::size_t j = 0; j < modes; ++j) {
    if (fourth[j] > 0) supports[j].rows = second[j] * second[j] / fourth[j];
    for (RowShare& carrier : supports[j].carriers) carrier.share = second[j] > 0 ? carrier.share / second[j] : 0;
  }
  return supports;
}

}  // namespace fd
