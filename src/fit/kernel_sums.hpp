// Rows of the kernel, summed: what each point sees of others at a bandwidth.
#pragma once

#include <vector>

#include "device/backend.hpp"

namespace fd {

// sum_j K(x_i, z_j) w_j, in the order of x's source, with a weight for each row of z's; where z is x itself, without j = i.
std::vector<double> kernel_sums(Backend& backend, double beta, const Points& x, const Points& z,
                                const std::vector<double>& weight, Watch* watch);

}  // namespace fd
