// The primitive itself: Y = K(X, Z; beta) W with K_ij = exp(-beta |x_i - z_j|^2), never stored. W is z-rows × columns, row-major;
// the result is x-rows × columns, row-major. With X alone the product is symmetric (each pair is evaluated once).
#pragma once

#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

// Uses of Options: precision (the last), backend, isa, threads, observer.
Table kernel_product(PointsView x, PointsView w, double beta, const Options& options = {});
Table kernel_product(PointsView x, PointsView z, PointsView w, double beta, const Options& options = {});

}  // namespace fd
