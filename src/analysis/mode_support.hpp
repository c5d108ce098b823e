// On how many rows a mode lives. With the symmetric eigenvector v_i = sqrt(d_i) psi_i, normalised, the effective support is
// 1 / sum v_i^4: n where all rows share alike, 1 where one row has it all.
//
// Does not know: which modes ought to be believed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd {

// Modes that live on fewer rows than this count as localised; of a table of few rows, where every mode lives on a few, on fewer than one in
// eight of them.
inline constexpr double localised_rows = 8;
constexpr double localised_below(std::size_t rows) { return std::min(localised_rows, static_cast<double>(rows) / 8); }

struct RowShare {
  std::size_t row = 0;  // from 0
  double share = 0;     // v_i^2
};

struct ModeSupport {
  double rows = 0;                 // effective number of rows
  std::vector<RowShare> carriers;  // those with the largest shares, largest first
};

// A mode each. Rows with d = 0 (set aside) have no share.
std::vector<ModeSupport> mode_supports(const Model& model, std::size_t carriers = 6);

}  // namespace fd
