// The public primitive: upload, one pass, download.
#include <flashdiffusion/kernel_product.hpp>

#include <cmath>
#include <string>

#include <flashdiffusion/error.hpp>

#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "fit/progress_watch.hpp"

namespace fd {
namespace {

void check(PointsView x, PointsView w, double beta) {
  if (!(beta > 0) || !std::isfinite(beta)) throw Error(Failure::misuse, "beta must be positive and finite");
  if (x.rows() != w.rows())
    throw Error(Failure::misuse, "W has " + std::to_string(w.rows()) + " rows, the points have " + std::to_string(x.rows()));
}

std::vector<double> read_all(PointsView view) {
  std::vector<double> host(view.rows() * view.dimension());
  view.read(0, view.rows(), host.data());
  return host;
}

Table download(Backend& backend, const Points& points, Panel& y, Precision precision) {
  std::vector<double> host(y.rows() * y.columns());
  backend.download(&points, y, host.data());
  Table out(y.rows(), y.columns(), traits(precision).wide_panels);
  out.visit([&](auto& values) { std::copy(host.begin(), host.end(), values.begin()); });
  return out;
}

}  // namespace

Table kernel_product(PointsView x, PointsView w, double beta, const Options& options) {
  check(x, w, beta);
  const Precision precision = options.precision.back();
  ProgressWatch watch(options.observer);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  ViewSource source(x);
  PointSummary summary;
  try {
    summary = summarise(source);
  } catch (const Error&) {  // equal points have a kernel too: all ones
    summary.rows = x.rows();
    summary.dimension = x.dimension();
    summary.mean.assign(x.dimension(), 0.0);
    summary.varying = {0};
    if (x.rows() == 0 || x.dimension() == 0 || !std::isfinite(read_all(x)[0])) throw;
  }
  CentredSource centred(source, summary);
  const auto points = backend->load(centred, precision);
  auto in = backend->panel(x.rows(), w.dimension(), precision), out = backend->panel(x.rows(), w.dimension(), precision);
  const auto host = read_all(w);
  backend->upload(points.get(), host.data(), *in);
  watch.pass(0.5 * static_cast<double>(x.rows()) * static_cast<double>(x.rows()));
  backend->xgemm(beta, *points, *in, *out, &watch);
  const auto width = static_cast<Eigen::Index>(w.dimension());
  backend->combine(*in, Eigen::MatrixXd::Identity(width, width), *out, true);  // the diagonal
  return download(*backend, *points, *out, precision);
}

Table kernel_product(PointsView x, PointsView z, PointsView w, double beta, const Options& options) {
  check(z, w, beta);
  if (x.dimension() != z.dimension())
    throw Error(Failure::misuse, "X has " + std::to_string(x.dimension()) + " columns, Z has " + std::to_string(z.dimension()));
  const Precision precision = options.precision.back();
  ProgressWatch watch(options.observer);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  ViewSource x_view(x), z_view(z);
  PointSummary summary;  // one origin for both
  summary.dimension = z.dimension();
  summary.mean.assign(z.dimension(), 0.0);
  for (std::size_t c = 0; c < z.dimension(); ++c) summary.varying.push_back(c);
  in_pieces(z_view, [&](std::size_t, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count * z.dimension(); ++i)
      summary.mean[i % z.dimension()] += rows[i] / static_cast<double>(z.rows());
  });
  CentredSource x_centred(x_view, summary), z_centred(z_view, summary);
  const auto x_points = backend->load(x_centred, precision), z_points = backend->load(z_centred, precision);
  auto in = backend->panel(z.rows(), w.dimension(), precision), out = backend->panel(x.rows(), w.dimension(), precision);
  const auto host = read_all(w);
  backend->upload(z_points.get(), host.data(), *in);
  watch.pass(static_cast<double>(x.rows()) * static_cast<double>(z.rows()));
  backend->xgemm(beta, *x_points, *z_points, *in, *out, &watch);
  return download(*backend, *x_points, *out, precision);
}

}  // namespace fd
