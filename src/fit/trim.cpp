#include "fit/trim.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/median.hpp"
#include "device/backend.hpp"
#include "fit/backend_of.hpp"
#include "fit/centred_source.hpp"
#include "fit/check_options.hpp"
#include "fit/kernel_sums.hpp"
#include "fit/nystrom.hpp"
#include "fit/outcome.hpp"
#include "fit/some_rows.hpp"
#include "flow/ladder.hpp"

namespace fd {
namespace {

constexpr std::size_t trim_sample_rows = 4096;
constexpr double neighbours = 0.01;  // of the sample, in reach of the median row, and at least 8

std::vector<double> row_sums(Backend& backend, const Points& x, const Points& z, double beta, Watch& watch) {
  return kernel_sums(backend, beta, x, z, std::vector<double>(z.rows(), 1.0), &watch);
}

// The mass falls as beta grows: steps of 8, then halving of the interval in log beta.
double beta_of_some_neighbours(Backend& backend, const Points& sample, double start, Watch& watch) {
  const double wanted = std::max(8.0, neighbours * static_cast<double>(sample.rows()));
  const auto dense = [&](double beta) { return median(row_sums(backend, sample, sample, beta, watch)) > wanted; };
  double low = start, high = start;
  for (int step = 0; step < 40 && !dense(low); ++step) low /= 8;
  for (int step = 0; step < 8 && dense(high); ++step) high *= 8;  // of copies a row has as many at any bandwidth
  for (int step = 0; step < 6; ++step) {
    const double middle = std::sqrt(low * high);
    (dense(middle) ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::vector<std::size_t> rows_to_trim(PointSource& source, const Options& options, Watch& watch) {
  const std::size_t n = source.rows();
  const PointSummary summary = summarise(source, options.precision);
  const Precision precision = traits(options.precision.back()).wide_panels ? Precision::fp64 : Precision::fp32;
  refuse_what_precision_cannot_hold(summary, {precision});
  const auto backend = backend_of(options);
  const std::vector<std::size_t> chosen = nested_sample(n, std::min(n, trim_sample_rows), options.seed);
  CentredSource some(source, summary, chosen), every(source, summary);
  const auto sample = backend->load(some, precision), all = backend->load(every, precision);
  const double beta = beta_of_some_neighbours(*backend, *sample, 2 / summary.mean_square, watch);
  std::vector<double> mass = row_sums(*backend, *all, *sample, beta, watch);
  for (const std::size_t row : chosen) mass[row] -= 1;  // its own entry

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return mass[a] < mass[b]; });
  order.resize(trimmed_rows(options.trim, n));
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<std::size_t> other_rows(std::size_t rows, const std::vector<std::size_t>& left_out) {
  std::vector<std::size_t> others;
  others.reserve(rows - left_out.size());
  auto next = left_out.begin();
  for (std::size_t i = 0; i < rows; ++i) {
    if (next != left_out.end() && *next == i) ++next;
    else others.push_back(i);
  }
  return others;
}

namespace {

// psi at some rows of `all`, extended from the rows of the model that took part in its fit.
Table placed_modes(const Model& model, PointSource& all, const std::vector<std::size_t>& rows, const Options& options) {
  SomeRows out_source(all, rows);
  return extend(model, out_source, 0, options);
}

}  // namespace

void place_aside(Model& model, PointSource& all, const Options& options) {
  const std::vector<std::size_t> aside = model.aside;
  const Table placed = placed_modes(model, all, aside, options);
  for (std::size_t i = 0; i < aside.size(); ++i)
    for (std::size_t j = 0; j < model.modes(); ++j) model.psi.set(aside[i], j, placed(i, j));
}

void place_rows(Model& model, PointSource& all, const std::vector<std::size_t>& left_out, const Options& options) {
  const std::size_t n = all.rows(), k = model.modes(), dimension = model.dimension;
  const bool wide = model.psi.wide();
  const Table placed = placed_modes(model, all, left_out, options);
  std::vector<double> far(left_out.size() * dimension);
  SomeRows(all, left_out).read(0, left_out.size(), far.data());
  const std::vector<std::size_t> kept = other_rows(n, left_out);
  Table psi(n, k, wide), points(n, dimension, model.points.wide());
  std::vector<double> q(n, 1.0), d(n, 0.0);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < k; ++j) psi.set(kept[i], j, model.psi(i, j));
    for (std::size_t c = 0; c < dimension; ++c) points.set(kept[i], c, model.points(i, c));
    q[kept[i]] = model.q[i];
    d[kept[i]] = model.d[i];
  }
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    for (std::size_t j = 0; j < k; ++j) psi.set(left_out[i], j, placed(i, j));
    for (std::size_t c = 0; c < dimension; ++c) points.set(left_out[i], c, far[i * dimension + c] - model.mean[c]);
  }
  model.n = n;
  std::vector<std::size_t> aside = left_out;
  for (const std::size_t i : model.aside) aside.push_back(kept[i]);
  std::sort(aside.begin(), aside.end());
  model.aside = std::move(aside);
  model.psi = std::move(psi);
  model.q = std::move(q);
  model.d = std::move(d);
  model.points = options.keep_points ? std::move(points) : Table();
  model.outcome += fmt::format("; {} left out of the fit and placed by extension", describe_rows(left_out, n, all.row_names()));
}

}  // namespace fd
