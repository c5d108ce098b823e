// From modes to anything measured on the same rows: a ridge decoder y ~ mean(y) + (psi - mean(psi)) W of the first m modes, judged on rows
// it has not seen. Angles are decoded through their cosine and sine, so that the end of a turn is next to its beginning.
//
// Guarantees: every error is that of rows held out, also from the choice of the penalty (nested cross-validation); the same model, targets
// and options give the same numbers on any number of threads.
// Does not know: whether rows are independent. Rows that follow each other in time are near copies of each other: ask for blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

struct DecodeOptions {
  std::vector<std::size_t> modes;  // numbers of leading modes, each of which is tried; empty: powers of two, and all
  std::optional<double> ridge;   // the penalty over the mean eigenvalue of the Gram matrix of the modes; nothing: cross-validated
  std::optional<double> period;  // the targets are angles of this period (360, 2 pi); nothing: plain numbers
  std::size_t folds = 5;
  bool blocks = false;  // folds are runs of rows that follow each other, instead of random ones
  std::uint64_t seed = 42;
};

// On rows held out, in the target's own unit; of angles the shorter way round.
struct DecodeError {
  double mean_absolute = 0;
  double root_mean_square = 0;
  double unexplained = 0;  // squares missed over squares about the mean of the other folds; of angles those of cosine and sine;
                           // NaN for a target that does not vary
};

struct DecodedModes {
  std::size_t modes = 0;
  double ridge = 0;                 // as given, or the median of those that the folds chose
  double condition = 0;             // number of the centred Gram matrix of these modes
  std::vector<DecodeError> errors;  // a target each
};

struct Decoding {
  std::vector<DecodedModes> by_modes;
  Table decoded;              // rows × targets from the last of by_modes, each row by a decoder that has not seen it
  std::size_t rows = 0;       // that have targets and modes; the others (NaN) are decoded as well, where they have modes
  std::vector<double> guess;  // mean absolute error of the mean of the other folds: what there is to beat
};

// Targets: a row each of the model, a column a target, NaN where it is not known. Throws Error(misuse) for shapes and options that do not fit
// together, Error(input) for targets that are infinite or known on too few rows.
Decoding decode(const Model& model, const Table& targets, const DecodeOptions& options = {});

}  // namespace fd
