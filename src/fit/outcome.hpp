// What is said about a finished fit: what its numbers are worth, in sentences for a human. Each is empty where there is nothing to say.
//
// Knows the model and what the solve made of it; decides nothing but `trustworthy`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>

#include "fit/bandwidth_search.hpp"
#include "solver/block_lanczos.hpp"

namespace fd {

// Whether the pairs are what was asked for, residuals apart: not all of them an arbitrary choice among copies of 1 or within the tolerance of
// zero, and of a kernel whose arithmetic kept its promise.
bool trustworthy(const Model& model, const Options& options);

// How many residuals reached the tolerance, how many pairs there are, and what kept the others from it.
std::string describe_residuals(const Model& model, const Options& options, SolverOutcome outcome);

// Converged eigenvalues no larger than the tolerance: their size is not known, nor are their modes.
std::string describe_small(const Model& model, const Options& options);

// Eigenvalues that the precision cannot tell from 1.
std::string describe_ones(const Model& model);

// Modes that live on a few rows, and the rows (counted from 1) that carry most of them. v: rows × k, row-major.
// By their names where they have any.
std::string describe_localised(const std::vector<double>& v, const std::vector<double>& support, std::size_t rows,
                               const std::vector<std::string>& names = {});

// Eigenvalues next to 1 with nothing near them below: rows that are cut off from the rest, one by one or as components. They bring the
// bandwidth at which the rows fall apart closer and so hold the chosen one down. `asked`: the number of components is a wish, and no finding.
std::string describe_separation(const Model& model, const std::vector<double>& support, std::size_t components, bool asked);

// Rows set aside by the flow and what that changed. Empty where there are none.
std::string describe_aside(const Model& model, const std::optional<AsideGain>& gain);

// "3 of 900 rows (rows 5, 17, 20)", counted from 1; the first few of them. By their names where they have any.
std::string describe_rows(const std::vector<std::size_t>& some, std::size_t rows, const std::vector<std::string>& names = {});

}  // namespace fd
