// Groups of rows that the others hardly reach, as a spectrum shows them: each adds an eigenvalue next to 1 whose mode is next to constant on
// the group. A row alone adds one too, and is not a group.
//
// Does not know: which rows belong to a group.
#pragma once

#include <cstddef>
#include <vector>

namespace fd {

// Of eigenvalues in descending order, as many as are within 1e-4 of 1, or within a percent of it and a hundred times closer than the next: a
// walker that leaves a group once in ten thousand steps has mixed within it long before.
std::size_t next_to_one(const std::vector<double>& eigenvalues);

// Those of them whose modes live on as many rows as a mode must that is not localised (`support`: effective rows of each mode). None where the
// eigenvalue after them is not clearly below 1: then it is the bandwidth that takes all rows apart.
std::size_t far_groups_in(const std::vector<double>& eigenvalues, const std::vector<double>& support);

}  // namespace fd
