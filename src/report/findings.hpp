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
  std::vector<std::size_t>
      counted;     // modes, from 0, among which the number to keep is judged: those before the first that did not converge
                   // and live on more than a few rows
  ModeCount keep;  // of these
  std::vector<ModeSupport> supports;
  KernelSupport retained;
};

// "mode 3", "modes 1, 2, 4", the first few of many. From 0, and shown from 1.
std::string modes_text(const std::vector<std::size_t>& modes);

// To a tenth, for sentences and plots alike. What is less than all of it is no more than 99.9 %.
std::string percent(double share);

// Whether a mode lives on a few rows, where few is not most of what there is.
bool localised(const Model& model, const ModeSupport& support);

Findings find(const Model& model);
// Without the mass that neighbour graphs keep, for which rows of the kernel are made.
Findings find_quickly(const Model& model);

std::string answer(const Model& model, const Findings& findings, const std::vector<Remark>& remarks);
std::string reason_to_keep(const Model& model, const Findings& findings);
std::string reading_of_exponent(const Model& model, const Findings& findings);
std::string reading_of_retained_mass(const Findings& findings);
std::vector<Remark> remarks_on(const Model& model, const Findings& findings);

}  // namespace fd
