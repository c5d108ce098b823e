// The primitive itself: Y = K(X, Z; beta) W with K_ij = exp(-beta |x_i - z_j|^2), never stored. W is z-rows × columns, row-major;
// the result is x-rows × columns, row-major. With X alone the product is symmetric (each pair is evaluated once).
//
// A row of Y is right to the precision's row_error of the same row of K |W|; with a Z, which may hold rows of X, to twice that: an entry of 1 is then a
// term of the sum like others, whose roundings it makes larger, and not added by itself. A row whose largest entry is below 2^-24 (fp64: 2^-50) may be off by
// more, as an exponent then has fewer digits behind the point: in fp32 by up to 4e-5 where it is 2^-105. Entries of K below the smallest normal number of the
// precision (2^-126; of fp64 2^-1022) may count as zero.
//
// Throws Error(input) for NaN, infinity and values too large for the precision in X, Z or W, by row and column, and for points
// that lie too far apart at this beta: with a Z beyond PrecisionTraits::farthest, with X alone where rows far from those beside them have
// neighbours. Error(misuse) for shapes that do not fit together, null pointers and a beta that is not
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
