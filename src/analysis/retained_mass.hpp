// What a graph of k nearest neighbours would keep of the kernel: the retained row mass
//   f_k(i) = sum over the k nearest j of K_ij / sum over all j of K_ij,   K_ij = exp(-beta |x_i - x_j|^2),
// a row being its own first neighbour. Measured on a sample of rows against all of them.
//
// Guarantees: the same figures on every machine with the same points; 0 < f_k <= 1. Does not know: where the points come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

struct RetainedMass {
  std::size_t neighbours = 0;                // k; all rows where there are fewer
  double mean = 0, lowest = 0, highest = 0;  // over the sampled rows; the two bound the middle nine tenths
};

struct RetainedMassSample {
  std::vector<std::size_t> rows;     // those that were measured
  std::vector<RetainedMass> masses;  // in the order of `neighbours`
};

// `rows`: those that may be sampled and be neighbours. At least 16 of them are measured and at most `most`, as many as a fraction of a
// second allows. Nothing is measured where there are no points.
RetainedMassSample retained_mass(const Table& points, const std::vector<std::size_t>& rows, double beta,
                                 const std::vector<std::size_t>& neighbours, std::size_t most = 256, std::uint64_t seed = 42);

}  // namespace fd
