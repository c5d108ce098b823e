// Diffusion coordinates of new points: the transition probabilities p(x, j) = k(x, j) q_j^-a / sum_l k(x, l) q_l^-a with the same alpha
// (q(x)^-a cancels), one rectangular pass with q^-a and q^-a psi as columns. lambda^t psi(x) = lambda^(t-1) sum_j p(x, j) psi_j: at t = 1
// nothing is divided by lambda.
#include "fit/nystrom.hpp"

#include <cmath>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/model.hpp>

#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "fit/progress_watch.hpp"

namespace fd {

Table Model::embedding(double time) const {
  Table out(n, modes(), psi.wide());
  for (std::size_t j = 0; j < modes(); ++j) {
    const double scale = std::pow(eigenvalues[j], time);
    for (std::size_t i = 0; i < n; ++i) out.set(i, j, scale * psi(i, j));
  }
  return out;
}

std::vector<std::size_t> Model::rows_aside() const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < d.size(); ++i)
    if (d[i] == 0) rows.push_back(i);
  return rows;
}

Table extend(const Model& model, PointSource& fresh, double time, const Options& options, std::vector<std::size_t>* unreachable) {
  if (model.points.empty())
    throw Error(Failure::misuse, "this model was written without its points",
                "give the points it was fitted to (transform --points)");
  if (fresh.dimension() != model.dimension)
    throw Error(Failure::input,
                "the points have " + std::to_string(fresh.dimension()) + " columns, the model was fitted to " +
                    std::to_string(model.dimension),
                "use the same columns in the same order as in the fit");
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
  CentredSource z_source(fitted_view, fitted);
  const auto z = backend->load(z_source, model.precision);
  auto w = backend->panel(n, k + 1, model.precision);
  std::vector<double> host(n * (k + 1));
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = model.d[i] > 0 ? std::pow(model.q[i], -model.alpha) : 0;  // rows left out of the fit weigh nothing
    host[i * (k + 1)] = weight;
    for (std::size_t j = 0; j < k; ++j) host[i * (k + 1) + 1 + j] = weight * model.psi(i, j);
  }
  backend->upload(z.get(), host.data(), *w);

  Table out(m, k, model.psi.wide());
  // fresh points in pieces, so that a file larger than memory can be transformed
  const std::size_t piece = std::max<std::size_t>(1, std::min<std::size_t>(m, 200000));
  for (std::size_t first = 0; first < m; first += piece) {
    std::vector<std::size_t> rows(std::min(piece, m - first));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = first + i;
    CentredSource x_source(fresh, moved, rows);
    in_pieces(x_source, [&](std::size_t at, std::size_t count, const double* values) {
      for (std::size_t i = 0; i < count * model.dimension; ++i)
        if (!std::isfinite(values[i]))
          throw Error(Failure::input,
                      "a value that is not finite in row " + std::to_string(first + at + i / model.dimension + 1) + ", column " +
                          std::to_string(i % model.dimension + 1) + " (counted from 1)",
                      "remove this row or fill it in");
    });
    const auto x = backend->load(x_source, model.precision);
    auto y = backend->panel(rows.size(), k + 1, model.precision);
    watch.pass(static_cast<double>(rows.size()) * static_cast<double>(n));
    backend->xgemm(model.beta, *x, *z, *w, *y, &watch);
    host.resize(rows.size() * (k + 1));
    backend->download(x.get(), *y, host.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* row = host.data() + i * (k + 1);
      // beyond the kernel's reach of every fitted point: no neighbour, so no coordinate
      if (!(row[0] > 1e-30) && unreachable != nullptr) {
        unreachable->push_back(first + i);
        continue;
      }
      if (!(row[0] > 1e-30))
        throw Error(Failure::input,
                    "row " + std::to_string(first + i + 1) + " is too far from every fitted point: its kernel row underflows",
                    "remove it, or fit with a smaller beta");
      for (std::size_t j = 0; j < k; ++j) out.set(first + i, j, std::pow(model.eigenvalues[j], time - 1) * row[1 + j] / row[0]);
    }
  }
  return out;
}

Table Model::transform(PointSource& fresh, double time, const Options& options) const {
  return extend(*this, fresh, time, options, nullptr);
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
