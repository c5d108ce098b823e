// The free energy of two dihedrals on a grid, F/kT = -log(p / p_max): what a Ramachandran plot shows.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

class FreeEnergy {
 public:
  explicit FreeEnergy(const Eigen::MatrixXd& angles);  // a row (phi, psi) each, degrees

  // phi to the right, psi upwards, as a Ramachandran plot is drawn; 0 to 8, as the paper has it; cells without a frame are empty.
  Figure figure(const std::string& name, const std::string& title) const;
  // Half the sum over cells of |p - p'|: the share of the probability that lies elsewhere.
  double misplaced(const FreeEnergy& other) const;

 private:
  HeatMap heat() const;
  static constexpr std::size_t cells = 36;  // of ten degrees, either way
  std::vector<double> share_;               // [phi][psi]
};

}  // namespace fd::reproduce
