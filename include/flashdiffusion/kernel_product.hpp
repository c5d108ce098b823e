// The primitive itself: Y = K(X, Z; beta) W with K_ij = exp(-beta |x_i - z_j|^2), never stored. W is z-rows × columns, row-major;
// the result is x-rows × columns, row-major. With X alone the product is symmetric (each pair is evaluated once).
//
// Throws Error(input) for NaN, infinity and values too large for the precision in X, Z or W, by row and column, and for points
// that lie too far apart at this beta; Error(misuse) for shapes that do not fit together, null pointers and a beta that is not
// positive and finite.
#pragma once

#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

// Uses of Options: precision (the last), backend, isa, threads, observer.
Table kernel_product(PointsView x, PointsView w, double beta, const Options& options = {});
Table kernel_product(PointsView x, PointsView z, PointsView w, double beta, const Options& options = {});

}  // namespace fd
