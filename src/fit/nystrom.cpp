// Diffusion coordinates of new points: the transition probabilities p(x, j) = k(x, j) q_j^-a / sum_l k(x, l) q_l^-a with the same alpha
// (q(x)^-a cancels), one rectangular pass with q^-a and q^-a psi as columns. lambda^t psi(x) = lambda^(t-1) sum_j p(x, j) psi_j: from t = 1
// on nothing is divided by lambda.
#include "fit/nystrom.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/model.hpp>

#include "base/counted.hpp"
#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "fit/far_rows.hpp"
#include "fit/progress_watch.hpp"
#include "fit/stoppable_source.hpp"

namespace fd {
namespace {

void check_time(double time) {
  if (!(time >= 0) || !std::isfinite(time))
    throw Error(Failure::misuse, "the diffusion time is " + std::to_string(time) + ": it must be finite, zero or above",
                "1 is the default");
}

// Whether lambda^time exists.
bool has_power(double lambda, double time) { return lambda > 0 || time == std::floor(time); }

// P is a Markov matrix: what rounding leaves beyond 1 would grow without bound with time.
double power(double lambda, double time) { return std::pow(std::clamp(lambda, -1.0, 1.0), time); }

bool is_rounding(const Model& model, std::size_t mode) {
  return !(std::abs(model.eigenvalues[mode]) > traits(model.precision).row_error);
}

void note_zeros(const Model& model, double time, const Options& options) {
  if (options.observer == nullptr) return;
  std::size_t missing = 0, rounding = 0;
  for (std::size_t j = 0; j < model.modes(); ++j) {
    if (!has_power(model.eigenvalues[j], time)) ++missing;
    else if (time < 1 && is_rounding(model, j)) ++rounding;
  }
  const auto note = [&](std::size_t count, const std::string& what) {
    if (count == 0) return;
    options.observer->note(std::to_string(count) + " of " + counted(model.modes(), "eigenvalue") + " " +
                           one_or_many(count, "is", "are") + " " + what + ": " +
                           one_or_many(count, "this coordinate is 0", "these coordinates are 0"));
  };
  note(missing, "not positive, which has no power at a time that is not whole");
  note(rounding, "0 as far as " + std::string(traits(model.precision).name) + " can tell, and before time 1 would be divided by");
}

// A model is plain data, so its arrays need not be there.
void check_arrays(const Model& model) {
  const bool whole = model.psi.rows() == model.n && model.psi.columns() == model.modes() && model.q.size() == model.n &&
                     model.d.size() == model.n && model.mean.size() == model.dimension;
  if (!whole) throw Error(Failure::misuse, "this model has no arrays, or they contradict its sizes", "load it with its arrays");
}

// Finite points of a whole model have finite coordinates.
void require_finite(const Table& coordinates) {
  coordinates.visit([&](const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        throw Error(Failure::input,
                    "this model gives row " + std::to_string(i / coordinates.columns() + 1) + " no finite coordinate " +
                        std::to_string(i % coordinates.columns() + 1) + " (counted from 1): the model is damaged",
                    "copy it again from where it was whole, or repeat the fit");
  });
}

// The smallest box around the fitted points, and which points lie so far from it that no fitted point is in the kernel's reach:
// exp(-beta |x - z|^2) underflows in fp64 too. Such rows never reach the back-end, whose panels they would spoil for their neighbours.
class Reach {
 public:
  Reach(const Table& points, double beta) : beta_(beta), low_(points.columns()), high_(points.columns()) {
    for (std::size_t c = 0; c < points.columns(); ++c) {
      low_[c] = high_[c] = points(0, c);
      for (std::size_t i = 1; i < points.rows(); ++i) {
        low_[c] = std::min(low_[c], points(i, c));
        high_[c] = std::max(high_[c], points(i, c));
      }
    }
  }
  bool holds(const double* row) const {
    constexpr double underflow = 745;
    double squared = 0;
    for (std::size_t c = 0; c < low_.size(); ++c) squared += std::pow(std::max({low_[c] - row[c], row[c] - high_[c], 0.0}), 2);
    return beta_ * squared <= underflow;
  }

 private:
  double beta_;
  std::vector<double> low_, high_;
};

}  // namespace

double extension_scale(const Model& model, std::size_t mode, double time) {
  const double lambda = model.eigenvalues[mode];
  return !has_power(lambda, time) || (time < 1 && is_rounding(model, mode)) ? 0 : power(lambda, time - 1);
}

Table Model::embedding(double time) const {
  check_time(time);
  check_arrays(*this);
  Table out(n, modes(), psi.wide());
  for (std::size_t j = 0; j < modes(); ++j) {
    const double scale = has_power(eigenvalues[j], time) ? power(eigenvalues[j], time) : 0;
    for (std::size_t i = 0; i < n; ++i) out.set(i, j, scale * psi(i, j));
  }
  return out;
}

Table extend(const Model& model, PointSource& points, double time, const Options& options,
             std::vector<std::size_t>* beyond_reach) {
  if (model.points.empty())
    throw Error(Failure::misuse, "this model was written without its points",
                "give the points it was fitted to, less its mean: `points`");
  StoppableSource fresh(points, options.observer);
  if (fresh.dimension() != model.dimension)
    throw Error(Failure::input,
                "the points have " + counted(fresh.dimension(), "column") + ", the model was fitted to " +
                    std::to_string(model.dimension),
                "use the same columns in the same order as in the fit");
  check_time(time);
  check_arrays(model);
  if (model.points.rows() != model.n || model.points.columns() != model.dimension)
    throw Error(Failure::misuse, "the model's points are not n × dimension", "load it again");
  note_zeros(model, time, options);
  ProgressWatch watch(options.observer);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  const std::size_t k = model.modes(), n = model.n, m = fresh.rows();
  watch.stage("extend", m, model.beta, k);

  // The fitted points have their mean removed already; the fresh ones lose the same mean. Columns that are constant in both
  // would be paid for nothing, but a column that was constant in the fit still adds to the distance of a fresh point.
  PointSummary fitted, moved;
  fitted.dimension = moved.dimension = model.dimension;
  fitted.mean.assign(model.dimension, 0.0);
  moved.mean = model.mean;
  for (std::size_t c = 0; c < model.dimension; ++c) fitted.varying.push_back(c);
  moved.varying = fitted.varying;
  ViewSource fitted_view(model.points.view());
  StoppableSource fitted_points(fitted_view, options.observer);
  CentredSource z_source(fitted_points, fitted);
  const auto z = backend->load(z_source, model.precision);
  auto w = backend->panel(z->layout(), k + 1, model.precision);
  std::vector<double> host(n * (k + 1));
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = model.d[i] > 0 ? std::pow(model.q[i], -model.alpha) : 0;  // rows left out of the fit weigh nothing
    host[i * (k + 1)] = weight;
    for (std::size_t j = 0; j < k; ++j) host[i * (k + 1) + 1 + j] = weight * model.psi(i, j);
  }
  backend->upload(host.data(), *w);

  std::vector<double> scale(k);
  for (std::size_t j = 0; j < k; ++j) scale[j] = extension_scale(model, j, time);
  const Reach reach(model.points, model.beta);
  Table out(m, k, model.psi.wide());
  // fresh points in pieces, so that a file larger than memory can be transformed
  const std::size_t piece = std::max<std::size_t>(1, std::min<std::size_t>(m, 200000));
  for (std::size_t first = 0; first < m; first += piece) {
    std::vector<std::size_t> all(std::min(piece, m - first)), near;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = first + i;
    CentredSource all_source(fresh, moved, all);
    in_pieces(all_source, [&](std::size_t at, std::size_t count, const double* values) {
      for (std::size_t i = 0; i < count * model.dimension; ++i)
        if (!std::isfinite(values[i]))
          throw Error(Failure::input,
                      std::string(std::isnan(values[i]) ? "NaN" : "an infinite value") + " in row " +
                          std::to_string(first + at + i / model.dimension + 1) + ", column " +
                          std::to_string(i % model.dimension + 1) + " (counted from 1)",
                      "fill such values in, or leave their rows out: `missing = drop-rows`");
      for (std::size_t i = 0; i < count; ++i)
        if (reach.holds(values + i * model.dimension)) near.push_back(first + at + i);
    });
    std::vector<std::size_t> far;  // what no fitted row is near: the sums are rounding, or nothing
    std::vector<char> placed(all.size(), 0);
    if (!near.empty()) {
      CentredSource x_source(fresh, moved, near);
      const auto x = backend->load(x_source, model.precision);
      auto y = backend->panel(x->layout(), k + 1, model.precision);
      watch.pass(static_cast<double>(near.size()) * static_cast<double>(n));
      backend->xgemm(model.beta, *x, *z, *w, *y, &watch);
      host.resize(near.size() * (k + 1));
      backend->download(*y, host.data());
    }
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double* row = host.data() + i * (k + 1);
      if (!(row[0] > 1e-30)) continue;
      placed[near[i] - first] = 1;
      for (std::size_t j = 0; j < k; ++j) out.set(near[i], j, scale[j] * row[1 + j] / row[0]);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      if (placed[i] == 0) far.push_back(first + i);
    if (!far.empty()) watch.stage("place", far.size(), model.beta, 0);
    place_far_rows(model, fresh, far, scale, options.threads, watch, out);
    if (beyond_reach != nullptr) beyond_reach->insert(beyond_reach->end(), far.begin(), far.end());
  }
  require_finite(out);
  return out;
}

Table Model::transform(PointSource& fresh, double time, const Options& options, std::vector<std::size_t>* beyond_reach) const {
  std::vector<std::size_t> far;
  Table out = extend(*this, fresh, time, options, &far);
  if (!far.empty() && options.observer != nullptr)
    options.observer->note(std::to_string(far.size()) + " of " + counted(out.rows(), "row") + " " +
                           one_or_many(far.size(), "is", "are") + " beyond the kernel's reach of every fitted row (" +
                           listed_rows(far, 12) + ", counted from 1) and placed where the nearest " +
                           one_or_many(far.size(), "is", "are") + ": " + one_or_many(far.size(), "was it", "were they") +
                           " scaled as the rows of the fit?");
  if (beyond_reach != nullptr) *beyond_reach = std::move(far);
  return out;
}

std::vector<float> Model::transform(PointsView fresh, double time) const {
  ViewSource source(fresh);
  Options options;
  options.precision = {precision};
  const Table table = transform(source, time, options);
  std::vector<float> flat(table.rows() * table.columns());
  table.visit([&](const auto& values) {
    for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = static_cast<float>(values[i]);
  });
  return flat;
}

}  // namespace fd
