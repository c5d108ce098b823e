// Rows split for cross-validation: each row belongs to one fold, is judged once, by what was learnt from the other folds.
//
// Guarantees: folds differ in size by at most one row; the same rows, folds and seed give the same split on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fd {

// The fold of each row, in [0, folds). Error(misuse) for fewer than two folds or more folds than rows.
std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, std::uint64_t seed);

}  // namespace fd
