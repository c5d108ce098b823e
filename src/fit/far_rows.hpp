// The extension of a model's modes to rows that no fitted row is near: exp(-beta |x - z|^2) underflows for every z, the transition
// probabilities do not. |x|^2 belongs to all of them and cancels,
//
//   p(x, j) ~ exp(2 beta x.z_j - beta |z_j|^2 - alpha log q_j),
//
// so that a row far away goes where its nearest fitted rows are. Sums are fp64; results are the same bits for any number of threads.
// Does not know: which rows are far.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>

#include "device/watch.hpp"

namespace fd {

// Writes scale_j sum_l p(x, l) psi_lj to these rows of `out`, for the same rows of `fresh`. Costs a row of the kernel each, in fp64.
void place_far_rows(const Model& model, PointSource& fresh, const std::vector<std::size_t>& rows,
                    const std::vector<double>& scale, int threads, Watch& watch, Table& out);

}  // namespace fd
