// Rows with next to no neighbours make modes of their own and hold the bandwidth down: they can be left out of the fit and placed by
// extension afterwards.
//
// How sparse a row is: its kernel mass to a sample of the rows, at the bandwidth where the median row reaches one in a hundred of the
// sample.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

#include "device/watch.hpp"

namespace fd {

// The rows to leave out, ascending: as many as options.trim says, sparsest first.
std::vector<std::size_t> rows_to_trim(PointSource& source, const Options& options, Watch& watch);

std::vector<std::size_t> other_rows(std::size_t rows, const std::vector<std::size_t>& left_out);

// In a model of all rows: psi of those set aside (degree zero), by extension from the others. The model has its points.
void place_aside(Model& model, PointSource& all, const Options& options);

// From a model of the other rows (with its points) to one of all rows. Rows that were left out have degree zero: they carry no weight in
// the eigenvectors nor in later extensions. The observer may stop it.
void place_rows(Model& model, PointSource& all, const std::vector<std::size_t>& left_out, const Options& options);

}  // namespace fd
