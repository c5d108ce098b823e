// From symmetric eigenvectors v of M to what users get: psi = d^-1/2 v, sum_i pi_i psi_i^2 = 1 with pi = d / sum d, and the entry of
// largest size positive (the first of them, where several are equally large).
#pragma once

#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

// v: rows × modes, row-major; overwritten.
Table right_eigenvectors(std::vector<double>& v, const std::vector<double>& degree, std::size_t modes, bool wide);

}  // namespace fd
