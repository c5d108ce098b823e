// From points to a solved rung at the full N: at a bandwidth that was given, or at one found by the flow over the ladder.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fit/rung_solver.hpp"
#include "flow/ladder.hpp"

namespace fd {

// What setting rows aside changed, on the largest sample that was searched with and without them.
struct AsideGain {
  std::size_t n = 0;
  double beta_of_all = 0, beta = 0;
};

struct FinalSolution {
  double beta = 0;
  std::shared_ptr<Solution> solution;
  std::unique_ptr<RungSolver> rung;  // at the full N
  std::vector<Probe> sweep;          // every probe of every rung, the final one last
  std::string verdict;               // what made the bandwidth, for a human; empty when it was given
  bool admissible = true;            // an interior minimum, or a bandwidth that was given
  Exponent exponent = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::optional<AsideGain> gain;
  std::size_t components = 1;  // that the gap was judged past
  std::size_t passes = 0, full_passes = 0, columns = 0;
};

FinalSolution solve_at(FitContext& context, double beta);
FinalSolution search_bandwidth(FitContext& context);

}  // namespace fd
