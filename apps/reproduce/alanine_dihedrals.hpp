// The backbone dihedrals of alanine dipeptide by the positions of its ten heavy atoms, in the order of the mdshare files: CH3 C O N CA CB C O N CH3.
//
// Guarantees: angles that are not those of the positions beside them are an Error(input) that names the first such frame, and what it looks like:
// columns exchanged, no angles at all, or those of other frames. Does not know: files.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd::reproduce {

// phi and psi in degrees; position: x, y, z of each atom.
std::array<double, 2> backbone_dihedrals(const double* position);

// Both tables in degrees. unit: how many degrees are 1 of the file's unit. place: where a row stands in the file of the dihedrals.
void check_dihedrals(const Table& given, const Table& of_positions, double unit,
                     const std::function<std::string(std::size_t)>& place);

}  // namespace fd::reproduce
