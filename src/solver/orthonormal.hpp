// Block Gram–Schmidt against several blocks, and within a block, with its rank revealed.
#pragma once

#include <vector>

#include "device/space.hpp"

namespace fd {

// Makes the columns of `fresh` orthonormal and orthogonal to all of `against` (each orthonormal). Directions that are
// numerically inside the others' span are dropped: the first `rank` columns hold the result. Two rounds of classical
// Gram–Schmidt, each two tall products; the block itself through the eigenvectors of its Gram matrix.
// `first`: what the first round is made against, where the rest is known to hold next to nothing of them (a Krylov space's next block).
std::size_t orthonormalise(Space& space, const std::vector<Columns>& against, Columns fresh);
std::size_t orthonormalise(Space& space, const std::vector<Columns>& first, const std::vector<Columns>& against, Columns fresh);

// S with S^T G S = I for a Gram matrix G = U L U^T: S = U L^-1/2, largest axes first, axes with L <= least left out.
Eigen::MatrixXd whitening(const Eigen::MatrixXd& gram, double least);

}  // namespace fd
