// The claims of section 4, held against fits and their decoders. Every claim gets a verdict or the reason why it was not measured.
#pragma once

#include <cstddef>
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

// Bandwidths that lie whole octaves from the first: one may be solved twice, to be settled, and the vertex of a bracket is none of them.
std::size_t dyadic_probes_of(const Model& model);

double largest_residual(const Model& model);

// The paper's numbers of one bandwidth say nothing of another.
bool at_paper_beta(double beta);

// Every cell of figure 3a, and what the text says of them; `beta`: of the fit that was decoded.
void compare_decoding(const std::vector<Decoded>& all, const Frames& frames, const Split& split, double beta, Result& result);
// Of the fit at the paper's bandwidth, or at the one that was given.
void compare_spectrum(const Model& model, Result& result);
// Where the flow ended, and its wall; nullptr where there was none.
void compare_flow(const Model* flow, Chosen chosen, Result& result);
void compare_time(const Model& model, Chosen chosen, Result& result);

}  // namespace fd::reproduce
