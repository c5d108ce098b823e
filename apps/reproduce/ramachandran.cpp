#include "reproduce/ramachandran.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reproduce/paper.hpp"

namespace fd::reproduce {

FreeEnergy::FreeEnergy(const Eigen::MatrixXd& angles) : share_(cells * cells, 0) {
  const auto cell = [](double angle) {
    const double turn = angle / 360 + 0.5, place = (turn - std::floor(turn)) * static_cast<double>(cells);
    return std::min(cells - 1, static_cast<std::size_t>(place));
  };
  for (Eigen::Index i = 0; i < angles.rows(); ++i)
    share_[cell(angles(i, 0)) * cells + cell(angles(i, 1))] += 1 / static_cast<double>(angles.rows());
}

HeatMap FreeEnergy::heat() const {
  HeatMap map{cells, cells, {}};
  const double most = *std::max_element(share_.begin(), share_.end());
  for (std::size_t up = 0; up < cells; ++up)
    for (std::size_t right = 0; right < cells; ++right) {
      const double share = share_[right * cells + up];
      map.values.push_back(share > 0 ? -std::log(share / most) : std::numeric_limits<double>::quiet_NaN());
    }
  return map;
}

Figure FreeEnergy::figure(const std::string& name, const std::string& title) const {
  Figure figure{
      name,
      title,
      "Free energy F/kT of (φ, ψ), cells of 10°; cells without a frame are empty. The paper's figure 2, axes exchanged: there ψ "
      "lies across.",
      {"φ, degrees", false, -180, 180},
      {"ψ, degrees", false, -180, 180},
      {}};
  figure.heat = heat();
  const std::vector<double> range = paper_numbers("alanine", "free_energy_range");
  figure.shade = {"F/kT", range.at(0), range.at(1)};
  return figure;
}

double FreeEnergy::misplaced(const FreeEnergy& other) const {
  double sum = 0;
  for (std::size_t i = 0; i < share_.size(); ++i) sum += std::abs(share_[i] - other.share_[i]) / 2;
  return sum;
}

}  // namespace fd::reproduce
