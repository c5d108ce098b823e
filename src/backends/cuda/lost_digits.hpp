// Rows that are neighbours so far from the origin of a table that pairs of floats, which coordinates are in the direct kernel of fp32, have no digits left for
// the distance between them. (fp64 takes coordinates as they came: their differences have all digits there are.)
#pragma once

#include "backends/cuda/cuda_points.hpp"

namespace fd::cuda {

// Throws Error(input) with the first two rows found, one of x and one of z, whose entry, of 2^-6 or more, may be off by more than x's precision promises of a row.
void refuse_lost_digits(double beta, const CudaPoints& x, const CudaPoints& z);

}  // namespace fd::cuda
