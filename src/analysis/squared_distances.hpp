// Squared distances of one point to many. Guarantees: each depends on its two points alone.
#pragma once

#include <cstddef>

namespace fd {

// `points`: count × dimension.
void squared_distances(const double* from, const double* points, std::size_t count, std::size_t dimension, double* out);

}  // namespace fd
