// The claims of section 4, held against a fit and its decoders. Every claim gets a verdict or the reason why it was not measured.
#pragma once

#include <vector>

#include <flashdiffusion/model.hpp>

#include "reproduce/alanine_decoding.hpp"
#include "reproduce/alanine_frames.hpp"
#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Who chose the bandwidth: the paper's flow on all frames, the default rule with a ladder, or the user.
enum class Chosen { flow, ladder, given };

// The probe whose bandwidth the model has; nullptr where there is none.
const Probe* accepted(const Model& model);

// Different bandwidths that were probed: one may be solved twice, to be settled.
std::size_t probes_of(const Model& model);

void compare_decoding(const std::vector<Decoded>& all, const Frames& frames, const Split& split, Result& result);
void compare_spectrum(const Model& model, Chosen chosen, Result& result);

}  // namespace fd::reproduce
