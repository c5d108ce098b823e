#include "reproduce/alanine_decoding.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/ridge_decoder.hpp"
#include "analysis/row_blocks.hpp"
#include "base/sample.hpp"
#include "base/worst.hpp"
#include "common/interrupt.hpp"
#include "reproduce/paper.hpp"

namespace fd::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;

double joint_error(const MatrixXd& decoded, const MatrixXd& angles, Index i) {
  return std::hypot(circular_distance(decoded(i, 0), angles(i, 0), 360), circular_distance(decoded(i, 1), angles(i, 1), 360));
}

namespace {

AngleErrors errors_of(const MatrixXd& decoded, const MatrixXd& angles) {
  const Eigen::RowVectorXd each = circular_error(decoded, angles, 360);
  AngleErrors errors{each(0), each(1), 0};
  for (Index i = 0; i < angles.rows(); ++i) errors.joint += joint_error(decoded, angles, i) / static_cast<double>(angles.rows());
  return errors;
}

}  // namespace

Split split_of(const Frames& frames) {
  Split split;
  split.held_trajectories = held_out_of(frames.trajectories);
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < frames.trajectory.size(); ++i)
    (frames.trajectory[i] + split.held_trajectories >= frames.trajectories ? split.held : others).push_back(i);
  // 5,000 of the paper's 500,000; of fewer frames at most a tenth
  const auto wanted = std::min(static_cast<std::size_t>(paper_number("alanine", "random_holdout")), others.size() / 10);
  const std::vector<std::size_t> places = sampled_rows(others.size(), wanted, 42);
  for (std::size_t i = 0, next = 0; i < others.size(); ++i) {
    if (next < places.size() && places[next] == i) split.random.push_back(others[i]), ++next;
    else split.train.push_back(others[i]);
  }
  return split;
}

// All from one set of sums over the training frames, with the paper's penalty.
std::vector<Decoded> decode_all(const Model& model, const Frames& frames, const Split& split,
                                const std::vector<std::size_t>& numbers) {
  const std::size_t modes = model.modes();
  const MatrixXd held = rows_of(frames.angles, split.held, 2), random = rows_of(frames.angles, split.random, 2);
  const MatrixXd held_modes = rows_of(model.psi, split.held, modes), random_modes = rows_of(model.psi, split.random, modes);
  RidgeMoments moments(Eigen::RowVectorXd::Zero(static_cast<Index>(modes)), Eigen::RowVectorXd::Zero(4));
  in_blocks(split.train, [&](const std::vector<std::size_t>& rows) {
    cli::throw_if_interrupted();
    moments.add(rows_of(model.psi, rows, modes), circle_points(rows_of(frames.angles, rows, 2), 360));
  });
  std::vector<Decoded> all;
  for (const std::size_t m : numbers) {
    cli::throw_if_interrupted();
    const auto columns = static_cast<Index>(m);
    const RidgePath path(moments.leading(columns));
    const RidgeDecoder decoder = path.decoder(paper_number("alanine", "ridge"));
    Decoded one{m,
                path.condition(),
                {},
                {},
                circle_angles(decoder.predict(held_modes.leftCols(columns)), 360),
                circle_angles(decoder.predict(random_modes.leftCols(columns)), 360)};
    one.held = errors_of(one.held_angles, held);
    one.random = errors_of(one.random_angles, random);
    all.push_back(std::move(one));
  }
  return all;
}

double difference_uncertainty(const Decoded& decoded, const Frames& frames, const Split& split) {
  const auto variance_of_mean = [](const MatrixXd& found, const MatrixXd& angles, Index column) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < angles.rows(); ++i) {
      const double error = circular_distance(found(i, column), angles(i, column), 360);
      sum += error;
      squares += error * error;
    }
    const auto count = static_cast<double>(angles.rows());
    return (squares / count - sum / count * (sum / count)) / count;
  };
  const MatrixXd held = rows_of(frames.angles, split.held, 2), random = rows_of(frames.angles, split.random, 2);
  double largest = 0;
  for (const Index column : {0, 1})
    largest = worse(
        largest, variance_of_mean(decoded.held_angles, held, column) + variance_of_mean(decoded.random_angles, random, column));
  return std::sqrt(largest);
}

std::size_t onset_of_psi(const std::vector<Decoded>& all) {
  std::size_t onset = 0;
  double largest = 0.8;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double ratio = all[i].held.psi / all[i - 1].held.psi;
    if (ratio <= largest) largest = ratio, onset = all[i].m;
  }
  return onset;
}

}  // namespace fd::reproduce
