#include <flashdiffusion/decode.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <flashdiffusion/error.hpp>

#include "analysis/folds.hpp"
#include "analysis/ridge_decoder.hpp"
#include "analysis/row_blocks.hpp"
#include "base/counted.hpp"
#include "base/median.hpp"

namespace fd {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The penalties that cross-validation chooses from, over the mean eigenvalue of the Gram matrix.
std::vector<double> penalties(const DecodeOptions& options) {
  if (options.ridge) return {*options.ridge};
  std::vector<double> grid;
  for (int power = -10; power <= 2; ++power) grid.push_back(std::pow(10.0, power));
  return grid;
}

// The rows of a decoding: features psi, targets as numbers or as points of circles.
class Rows {
 public:
  Rows(const Model& model, const Table& targets, std::optional<double> period)
      : model_(model), targets_(targets), period_(period) {
    for (std::size_t i = 0; i < model.psi.rows(); ++i) {
      bool modes = true, known = true;
      for (std::size_t j = 0; j < model.psi.columns(); ++j) modes = modes && std::isfinite(model.psi(i, j));
      for (std::size_t j = 0; j < targets.columns(); ++j) {
        if (std::isinf(targets(i, j)))
          throw Error(Failure::input,
                      "the target in row " + std::to_string(i + 1) + ", column " + std::to_string(j + 1) + " is infinite",
                      "give numbers; NaN where there is none");
        known = known && !std::isnan(targets(i, j));
      }
      if (modes) (known ? known_ : unknown_).push_back(i);
    }
  }

  const std::vector<std::size_t>& known() const { return known_; }
  const std::vector<std::size_t>& unknown() const { return unknown_; }

  MatrixXd features(const std::vector<std::size_t>& rows, std::size_t modes) const { return rows_of(model_.psi, rows, modes); }
  MatrixXd values(const std::vector<std::size_t>& rows) const { return rows_of(targets_, rows, targets_.columns()); }
  MatrixXd embedded(const MatrixXd& values) const { return period_ ? circle_points(values, *period_) : values; }
  MatrixXd turned_back(const MatrixXd& decoded) const { return period_ ? circle_angles(decoded, *period_) : decoded; }
  double distance(double a, double b) const { return period_ ? circular_distance(a, b, *period_) : std::abs(a - b); }

 private:
  const Model& model_;
  const Table& targets_;
  std::optional<double> period_;
  std::vector<std::size_t> known_, unknown_;  // that have modes
};

// The rows of each fold.
std::vector<std::vector<std::size_t>> split(const std::vector<std::size_t>& rows, const DecodeOptions& options) {
  std::vector<std::vector<std::size_t>> folds(options.folds);
  if (options.blocks) {
    for (std::size_t i = 0; i < rows.size(); ++i) folds[i * options.folds / rows.size()].push_back(rows[i]);
  } else {
    const auto fold = random_folds(rows.size(), options.folds, options.seed);
    for (std::size_t i = 0; i < rows.size(); ++i) folds[fold[i]].push_back(rows[i]);
  }
  return folds;
}

RidgeMoments sum_of(const std::vector<RidgeMoments>& moments, std::size_t without, std::size_t and_without) {
  std::optional<RidgeMoments> sum;
  for (std::size_t f = 0; f < moments.size(); ++f) {
    if (f == without || f == and_without) continue;
    if (sum) *sum += moments[f];
    else sum = moments[f];
  }
  return *sum;
}

// The penalty for the decoder that fold `held` is to judge, by cross-validation over the other folds alone: the least sum of what is
// missed, targets weighing alike whatever their unit.
double best_penalty(const std::vector<RidgeMoments>& moments, std::size_t held, const std::vector<double>& grid) {
  if (grid.size() == 1) return grid[0];
  const RowVectorXd spread = sum_of(moments, held, held).spread();
  std::vector<double> missed(grid.size(), 0);
  for (std::size_t inner = 0; inner < moments.size(); ++inner) {
    if (inner == held) continue;
    const RidgePath path(sum_of(moments, held, inner));
    for (std::size_t g = 0; g < grid.size(); ++g) {
      const RowVectorXd squares = path.decoder(grid[g]).missed(moments[inner]);
      for (Index t = 0; t < squares.size(); ++t)
        if (spread(t) > 0) missed[g] += squares(t) / spread(t);
    }
  }
  return grid[static_cast<std::size_t>(std::min_element(missed.begin(), missed.end()) - missed.begin())];
}

struct Sums {
  RowVectorXd absolute, squares, missed, spread;  // the last two of the embedded targets
  explicit Sums(Index targets, Index embedded)
      : absolute(RowVectorXd::Zero(targets)),
        squares(RowVectorXd::Zero(targets)),
        missed(RowVectorXd::Zero(embedded)),
        spread(RowVectorXd::Zero(embedded)) {}
};

std::vector<DecodeError> errors_of(const Sums& sums, std::size_t rows) {
  std::vector<DecodeError> errors;
  const Index targets = sums.absolute.size(), each = sums.missed.size() / targets;  // a circle has two coordinates
  for (Index t = 0; t < targets; ++t) {
    const double missed = sums.missed.segment(t * each, each).sum(), spread = sums.spread.segment(t * each, each).sum();
    errors.push_back({sums.absolute(t) / static_cast<double>(rows), std::sqrt(sums.squares(t) / static_cast<double>(rows)),
                      spread > 0 ? missed / spread : nan});
  }
  return errors;
}

class CrossValidation {
 public:
  CrossValidation(const Rows& rows, const DecodeOptions& options, std::size_t most_modes, Table& decoded)
      : rows_(rows), options_(options), folds_(split(rows.known(), options)), decoded_(decoded) {
    // an origin near the means: those of the first rows
    std::vector<std::size_t> some = rows.known();
    if (some.size() > rows_a_block) some.resize(rows_a_block);
    const RowVectorXd origin = rows.features(some, most_modes).colwise().mean();
    const MatrixXd embedded = rows.embedded(rows.values(some));
    RowVectorXd target_origin = embedded.colwise().mean();
    for (Index t = 0; t < embedded.cols(); ++t)  // a target that does not vary: its spread is then zero without rounding
      if ((embedded.col(t).array() == embedded(0, t)).all()) target_origin(t) = embedded(0, t);
    for (const auto& fold : folds_) {
      moments_.emplace_back(origin, target_origin);
      in_blocks(fold, [&](const std::vector<std::size_t>& block) {
        moments_.back().add(rows.features(block, most_modes), rows.embedded(rows.values(block)));
      });
    }
  }

  // `keep`: what is decoded is written down.
  DecodedModes of(std::size_t modes, bool keep) {
    std::vector<RidgeMoments> moments;
    for (const RidgeMoments& all : moments_) moments.push_back(all.leading(static_cast<Index>(modes)));
    const std::vector<double> grid = penalties(options_);
    const auto targets = static_cast<Index>(decoded_.columns());
    Sums sums(targets, moments[0].spread().size());
    std::vector<double> chosen;
    for (std::size_t held = 0; held < folds_.size(); ++held) {
      chosen.push_back(best_penalty(moments, held, grid));
      const RidgeMoments others = sum_of(moments, held, held);
      const RidgeDecoder decoder = RidgePath(others).decoder(chosen.back());
      sums.missed += decoder.missed(moments[held]);
      sums.spread += moments[held].missed(others.feature_mean(), others.target_mean(),
                                          MatrixXd::Zero(static_cast<Index>(modes), sums.spread.size()));
      judge(folds_[held], modes, decoder, sums, keep);
    }
    const RidgePath all(sum_of(moments, moments.size(), moments.size()));
    const double ridge = median(chosen);
    if (keep) {
      Sums unused(targets, sums.spread.size());
      judge(rows_.unknown(), modes, all.decoder(ridge), unused, true);
    }
    return {modes, ridge, all.condition(), errors_of(sums, rows_.known().size())};
  }

  // Mean absolute error of the mean of the other folds.
  std::vector<double> guess() const {
    std::vector<double> errors(decoded_.columns(), 0);
    for (std::size_t held = 0; held < folds_.size(); ++held) {
      const MatrixXd mean = rows_.turned_back(sum_of(moments_, held, held).target_mean());
      in_blocks(folds_[held], [&](const std::vector<std::size_t>& block) {
        const MatrixXd values = rows_.values(block);
        for (Index t = 0; t < values.cols(); ++t)
          for (Index i = 0; i < values.rows(); ++i)
            errors[static_cast<std::size_t>(t)] += rows_.distance(values(i, t), mean(0, t));
      });
    }
    for (double& error : errors) error /= static_cast<double>(rows_.known().size());
    return errors;
  }

 private:
  void judge(const std::vector<std::size_t>& rows, std::size_t modes, const RidgeDecoder& decoder, Sums& sums, bool keep) {
    in_blocks(rows, [&](const std::vector<std::size_t>& block) {
      const MatrixXd decoded = rows_.turned_back(decoder.predict(rows_.features(block, modes))), values = rows_.values(block);
      for (Index t = 0; t < values.cols(); ++t)
        for (Index i = 0; i < values.rows(); ++i) {
          const double error = rows_.distance(decoded(i, t), values(i, t));
          sums.absolute(t) += error;
          sums.squares(t) += error * error;
          if (keep) decoded_.set(block[static_cast<std::size_t>(i)], static_cast<std::size_t>(t), decoded(i, t));
        }
    });
  }

  const Rows& rows_;
  const DecodeOptions& options_;
  std::vector<std::vector<std::size_t>> folds_;
  std::vector<RidgeMoments> moments_;  // a fold each
  Table& decoded_;
};

std::vector<std::size_t> mode_numbers(const Model& model, const DecodeOptions& options) {
  std::vector<std::size_t> numbers = options.modes;
  for (const std::size_t m : numbers)
    if (m == 0 || m > model.modes())
      throw Error(Failure::misuse, "`modes = " + std::to_string(m) + "`, but the model has " + counted(model.modes(), "mode"),
                  "ask for at least one and at most " + std::to_string(model.modes()));
  if (!numbers.empty()) return numbers;
  for (std::size_t m = 1; m < model.modes(); m *= 2) numbers.push_back(m);
  numbers.push_back(model.modes());
  return numbers;
}

void check(const Model& model, const Table& targets, const DecodeOptions& options) {
  if (model.modes() == 0 || model.psi.rows() != model.n || model.psi.columns() != model.modes())
    throw Error(Failure::misuse, "a model without modes has nothing to decode",
                "fit it with at least one mode, and load its arrays");
  if (targets.rows() != model.n || targets.columns() == 0)
    throw Error(Failure::misuse,
                "targets of " + counted_shape(targets.rows(), targets.columns()) + " for a model of " + counted(model.n, "row"),
                "give one row of targets for each row of the model");
  if (options.ridge && !(*options.ridge >= 0 && std::isfinite(*options.ridge)))
    throw Error(Failure::misuse, "`ridge = " + std::to_string(*options.ridge) + "`",
                "a finite number of zero or more; 1e-8 is usual; leave it out to have it cross-validated");
  // Nested folds: one judges, one chooses, the rest is fitted to.
  const std::size_t least = options.ridge ? 2 : 3;
  if (options.folds < least)
    throw Error(Failure::misuse, "`folds = " + std::to_string(options.folds) + "`",
                "at least " + std::to_string(least) + (least == 3 ? ", or 2 where `ridge` is given" : ""));
}

}  // namespace

Decoding decode(const Model& model, const Table& targets, const DecodeOptions& options) {
  check(model, targets, options);
  const std::vector<std::size_t> numbers = mode_numbers(model, options);
  const Rows rows(model, targets, options.period);
  Decoding result;
  result.rows = rows.known().size();
  if (result.rows / 2 < options.folds)
    throw Error(Failure::input, counted(result.rows, "row") + " with targets for " + std::to_string(options.folds) + " folds",
                "give at least two rows a fold");
  result.decoded = Table(model.n, targets.columns(), true);
  for (std::size_t i = 0; i < model.n; ++i)
    for (std::size_t j = 0; j < targets.columns(); ++j) result.decoded.set(i, j, nan);
  CrossValidation validation(rows, options, *std::max_element(numbers.begin(), numbers.end()), result.decoded);
  result.guess = validation.guess();
  for (std::size_t i = 0; i < numbers.size(); ++i) result.by_modes.push_back(validation.of(numbers[i], i + 1 == numbers.size()));
  return result;
}

}  // namespace fd
