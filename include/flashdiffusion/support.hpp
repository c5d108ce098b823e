// What a graph of nearest neighbours would keep of the kernel K_ij = exp(-beta |x_i - x_j|^2), measured on sampled rows against all rows:
//   retained row mass   f_k(i) = sum over the k nearest j of K_ij / sum over all j of K_ij, a row being its own first neighbour;
//   support             the number of j with K_ij >= tau, its mean k* over rows, and its density rho_tau = k* / n.
// Where points lie evenly on a surface, f_k = 1 - exp(-c_2 k); c_2 is fitted to the means.
//
// Guarantees: fp64; the same figures for any number of threads and any size of pieces; points are read once and never held, but the sampled
// ones. Does not know: how the modes of a graph differ from those of the kernel, which depends on more than mass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

// Over the sampled rows: the mean, its standard error, and what bounds the middle nine tenths.
struct RowSpread {
  double mean = 0, error = 0, lowest = 0, highest = 0;
};

struct RetainedMass {
  std::size_t neighbours = 0;  // k; f_k is 1 where there are no more rows
  RowSpread share;             // f_k
};

struct SupportCount {
  double tau = 0;
  RowSpread neighbours;  // with K_ij >= tau, the row itself among them; the mean is k*
  double density = 0;    // k* / n
};

struct KernelSupport {
  std::size_t n = 0;
  std::vector<std::size_t> rows;  // those that were measured
  RowSpread row_mass;             // sum over j of K_ij
  std::vector<RetainedMass> masses;
  std::vector<SupportCount> counts;
  double c2 = 0;            // of 1 - exp(-c_2 k); NaN where fewer than two means lie below 1
  double c2_departure = 0;  // the largest |f_k - (1 - exp(-c_2 k))|
};

struct SupportOptions {
  std::vector<std::size_t> neighbours = {15, 32, 64, 128, 256, 512, 1024};
  std::vector<double> tolerances = {1e-7, 1e-15};
  std::size_t rows = 400;  // to be sampled; 0: all
  std::uint64_t seed = 42;
  int threads = 0;  // 0: all cores the process may use
  Observer* observer = nullptr;
};

// Throws Error(misuse) for a beta that is not positive and finite, for tau outside (0, 1) and for k = 0; Error(input) for NaN and infinity,
// by row and column.
KernelSupport kernel_support(PointSource& points, double beta, const SupportOptions& options = {});

}  // namespace fd
