// The oracle of the end: a dense diffusion map in fp64 by the textbook formulas and Eigen's eigensolver. Shares no code with the
// project's operator or solver. Compiled once: eigensolvers take the compiler long.
#pragma once

#include <Eigen/Core>

#include "support/datasets.hpp"

namespace fd::test {

struct DenseDiffusion {
  Eigen::MatrixXd kernel;        // K
  Eigen::MatrixXd p;             // row-stochastic
  Eigen::VectorXd q, d, values;  // values: nontrivial eigenvalues, descending
  Eigen::MatrixXd symmetric;     // M
  Eigen::MatrixXd vectors;       // of M, columns as values (the trivial one left out)
};

Eigen::MatrixXd dense_kernel(const Dataset& data, double beta);

// All but the spectrum, from a kernel and a mass, which need not be the sum of its rows (where rows set aside count in the mass alone).
DenseDiffusion dense_operator(Eigen::MatrixXd kernel, Eigen::VectorXd mass, double alpha);

DenseDiffusion dense_diffusion(Eigen::MatrixXd kernel, Eigen::VectorXd mass, double alpha, bool with_vectors);
DenseDiffusion dense_diffusion(const Dataset& data, double beta, double alpha, bool with_vectors = true);

// The largest nontrivial eigenvalues from below, where all of them would take minutes: Ritz values of a Krylov space of `depth` random
// blocks. As many as a block has. A few distinct rows leave later blocks nothing but noise, so the whole is made orthonormal once more at the
// end: of whatever it spans, Ritz values are bounds.
Eigen::VectorXd krylov_values(const DenseDiffusion& dense, Eigen::Index block, Eigen::Index depth);

}  // namespace fd::test
