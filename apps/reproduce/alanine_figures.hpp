// The figures of section 4, the paper's points and ours: errors of decoded angles, the spectrum, and Ramachandran surfaces, phi to the right in all
// of them.
#pragma once

#include <vector>

#include <flashdiffusion/model.hpp>

#include "reproduce/alanine_decoding.hpp"
#include "reproduce/alanine_frames.hpp"
#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Also the table of how much of the probability the decoded surfaces misplace.
void add_figures(const std::vector<Decoded>& all, const Model& model, const Frames& frames, const Split& split, Result& result);

}  // namespace fd::reproduce
