// The fitted points as a model keeps them: mean removed, in float where that is exact enough for transform, in double otherwise.
#pragma once

#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

// Rounding moves a point by delta = |x - float(x)|, and the exponent beta r^2 of a neighbour at distance r by 2 beta r delta. Neighbours
// that count have beta r^2 < 16, so exponents, and with them relative kernel entries, are off by at most 8 sqrt(beta) delta. Doubles are
// kept where that exceeds 1e-5 (one coordinate that dwarfs the others is enough: it shifts the mean of its column), and where `wide`.
Table kept_points(PointSource& source, const std::vector<double>& mean, double beta, bool wide);

}  // namespace fd
