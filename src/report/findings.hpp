// What a report says of a model in words: the figures it rests on, the answer in one sentence, and remarks with what to do about them.
//
// Guarantees: a model with any of its fields missing or NaN gets sentences that say so. Does not know: HTML, or how anything is drawn.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/report.hpp>
#include <flashdiffusion/support.hpp>

#include "analysis/mode_count.hpp"
#include "analysis/mode_support.hpp"

namespace fd {

// Measured on the model for the report.
struct Findings {
  double n_eff = std::numeric_limits<double>::quiet_NaN();  // of the accepted bandwidth
  double d_hat = std::numeric_limits<double>::quiet_NaN();
  double largest_residual = 0;
  double tolerance = std::numeric_limits<double>::quiet_NaN();  // NaN where the model does not know
  bool chosen = false;                                          // the bandwidth, by the flow
  ModeCount keep;
  std::vector<ModeSupport> supports;
  KernelSupport retained;
};

// Whether a mode lives on a few rows, where few is not most of what there is.
bool localised(const Model& model, const ModeSupport& support);

// Leading modes whose eigenvalues are next to 1: they only tell which piece a row is in.
std::size_t modes_of_pieces(const Model& model);

Findings find(const Model& model);
// Without the mass that neighbour graphs keep, for which rows of the kernel are made.
Findings find_quickly(const Model& model);

std::string answer(const Model& model, const Findings& findings, const std::vector<Remark>& remarks);
std::string reason_to_keep(const Model& model, const Findings& findings);
std::string reading_of_exponent(const Model& model, const Findings& findings);
std::string reading_of_retained_mass(const Findings& findings);
std::vector<Remark> remarks_on(const Model& model, const Findings& findings);

}  // namespace fd
