// The decoder of section 4: which frames it is fitted to, which judge it, and the errors of the decoded dihedrals for each number of modes.
//
// Guarantees: frames of held-out trajectories and the random holdout take no part in a fit. Does not know: how the modes were made.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include <flashdiffusion/model.hpp>

#include "reproduce/alanine_frames.hpp"

namespace fd::reproduce {

// Rows by what the decoder does with them.
struct Split {
  std::vector<std::size_t> train, random, held;
  std::size_t held_trajectories = 0;
};

struct AngleErrors {
  double phi = 0, psi = 0, joint = 0;  // mean absolute, degrees; joint: of sqrt(dphi^2 + dpsi^2)
};

struct Decoded {
  std::size_t m;
  double condition;
  AngleErrors held, random;
  Eigen::MatrixXd held_angles, random_angles;
};

// The last third of the trajectories is held out; of the other frames 5,000, or a tenth where that is less, are left out at random.
Split split_of(const Frames& frames);

double joint_error(const Eigen::MatrixXd& decoded, const Eigen::MatrixXd& angles, Eigen::Index row);

// A decoder for each number of leading modes, with the paper's penalty.
std::vector<Decoded> decode_all(const Model& model, const Frames& frames, const Split& split,
                                const std::vector<std::size_t>& numbers);

// Standard error of the difference between the mean errors of both holdouts: the larger of phi's and psi's, frames taken as independent.
double difference_uncertainty(const Decoded& decoded, const Frames& frames, const Split& split);

// The m after the step at which psi's error falls most, in proportion; 0 where no step is a clear fall, by a fifth or more.
std::size_t onset_of_psi(const std::vector<Decoded>& all);

}  // namespace fd::reproduce
