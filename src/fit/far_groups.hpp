// Groups of rows that are close to each other and far from all others (a rare cell type), among rows that a bandwidth does not resolve.
//
// A group shows at a coarser bandwidth: there its members see several of each other and next to nothing of the rest. A stray row sees
// nothing at that bandwidth (nor do strays beside a group, which see it from much farther away than its members see each other), and a row of a sparse
// tail sees the bulk before it sees others of its kind.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/points.hpp>

#include "device/backend.hpp"

namespace fd {

// `rows` of `centred`, which is loaded as `all`: those that belong to a group of at least `least` of them at some bandwidth from `coarsest` up
// to `beta`. Costs
// as many pairs as there are rows times all, a few times over.
std::vector<std::size_t> far_groups(Backend& backend, const Points& all, PointSource& centred,
                                    const std::vector<std::size_t>& rows, double beta, double coarsest, std::size_t least,
                                    Watch* watch);

}  // namespace fd
