// Options that cannot be honoured, alone or together, are refused before any work is done. The one place for it: programs and bindings
// need only translate names.
//
// Names. In texts of the library an option is a field of Options in backticks, with its value where there is one: `trim` or
// `components = 3`. A program that calls it something else puts its own name there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <flashdiffusion/options.hpp>

namespace fd {

// What can be said without rows. Throws Error(misuse).
void check_options(const Options& options);

// The options as the fit of so many rows takes them: the default number of modes gives way where there are fewer. Throws Error(misuse)
// or, for too few points, Error(input).
Options checked_options(const Options& options, std::size_t rows);

// A sentence for each wish that such a fit does not take at its word: a block or a basis that the solver cannot work with becomes the next
// one that it can.
std::vector<std::string> taken_otherwise(const Options& checked, std::size_t rows);

// How many rows `trim` leaves out.
std::size_t trimmed_rows(const std::optional<double>& trim, std::size_t rows);

}  // namespace fd
