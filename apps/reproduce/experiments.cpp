// The table of experiments. A new one is a file and a row here.
#include "reproduce/experiments.hpp"

namespace fd::reproduce {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> table = {
      {"t6", "time, bandwidth and recovered harmonics on the flat six-torus, against N", {"--n", "--seeds"}, declare_t6},
      {"alanine", "backbone dihedrals of alanine dipeptide, decoded from diffusion modes", {"--n"}, declare_alanine},
      {"swissroll", "how many neighbours the kernel reaches on a Swiss roll, to 10^8 points", {"--n"}, declare_swissroll},
      {"knn", "what a nearest-neighbour graph keeps: row mass, spectrum, modes", {"--seeds"}, declare_knn},
      {"keops", "the kernel product alone, ours and KeOps", {"--n", "--python"}, declare_keops},
  };
  return table;
}

}  // namespace fd::reproduce
