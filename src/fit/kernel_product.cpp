// The public primitive: upload, one pass, download.
#include <flashdiffusion/kernel_product.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <flashdiffusion/error.hpp>

#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "fit/progress_watch.hpp"

namespace fd {
namespace {

// Refuses what no product can be made of, by row and column: NaN, infinity, and what is larger than `largest`.
void check_values(const std::string& name, PointsView view, double largest) {
  if (view.missing())
    throw Error(Failure::misuse, "the pointer to " + name + " is null", "pass the address of rows × columns values");
  if (view.rows() == 0 || view.dimension() == 0)
    throw Error(Failure::input, name + " has no " + (view.rows() == 0 ? "rows" : "columns"));
  ViewSource source(view);
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count * view.dimension(); ++i) {
      if (std::abs(rows[i]) <= largest) continue;
      const std::string what = std::isnan(rows[i])   ? "NaN"
                               : std::isinf(rows[i]) ? "an infinite value"
                                                     : "a value too large for this precision";
      throw Error(Failure::input,
                  what + " in " + name + ", row " + std::to_string(first + i / view.dimension() + 1) + ", column " +
                      std::to_string(i % view.dimension() + 1) + " (counted from 1)",
                  "remove or replace it, or rescale the values");
    }
  });
}

Precision last_precision(const Options& options) {
  if (options.precision.empty()) throw Error(Failure::misuse, "no precision is given", "give one, fp32 for example");
  return options.precision.back();
}

// The largest value whose square can be summed over coordinates, and the largest weight: before the factors of its norm (up to
// 2^31 in fp32, 2^256 in fp64) are multiplied in again, a sum over all rows must not overflow.
double largest_coordinate(Precision precision) { return traits(precision).wide_panels ? 1e150 : 1e17; }
double largest_weight(Precision precision, std::size_t rows) {
  const double most = traits(precision).wide_panels ? std::numeric_limits<double>::max() * 0x1p-257
                                                    : static_cast<double>(std::numeric_limits<float>::max()) * 0x1p-32;
  return most / static_cast<double>(std::max<std::size_t>(rows, 1));
}

void check(PointsView x, PointsView z, PointsView w, double beta, Precision precision) {
  if (!(beta > 0) || !std::isfinite(beta)) throw Error(Failure::misuse, "beta must be positive and finite");
  if (z.rows() != w.rows())
    throw Error(Failure::misuse, "W has " + std::to_string(w.rows()) + " rows, the points have " + std::to_string(z.rows()));
  if (x.dimension() != z.dimension())
    throw Error(Failure::misuse, "X has " + std::to_string(x.dimension()) + " columns, Z has " + std::to_string(z.dimension()));
  check_values("X", x, largest_coordinate(precision));
  check_values("W", w, largest_weight(precision, w.rows()));
}

// The origin is that of z, or its one point where all are equal: these have a kernel too. Columns in which no point leaves it are
// dropped.
PointSummary common_origin(PointsView x, PointsView z) {
  std::vector<double> point(z.dimension());
  z.read(0, 1, point.data());
  const auto leaves = [&](PointsView view, const std::vector<double>& origin) {
    std::vector<char> columns(origin.size(), 0);
    ViewSource source(view);
    in_pieces(source, [&](std::size_t, std::size_t count, const double* rows) {
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < origin.size(); ++c)
          if (rows[i * origin.size() + c] != origin[c]) columns[c] = 1;
    });
    return columns;
  };
  std::vector<char> varies = leaves(z, point);
  PointSummary summary;
  if (std::find(varies.begin(), varies.end(), 1) != varies.end()) {
    ViewSource source(z);
    summary = summarise(source);
  } else {
    summary.rows = z.rows();
    summary.dimension = z.dimension();
    summary.mean = point;
  }
  const std::vector<char> others = leaves(x, summary.mean);
  summary.varying.clear();
  for (std::size_t c = 0; c < varies.size(); ++c)
    if (varies[c] != 0 || others[c] != 0) summary.varying.push_back(c);
  if (summary.varying.empty()) summary.varying = {0};
  return summary;
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
  const Precision precision = last_precision(options);
  check(x, x, w, beta, precision);
  ProgressWatch watch(options.observer);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  ViewSource source(x);
  const PointSummary summary = common_origin(x, x);
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
  const Precision precision = last_precision(options);
  check(x, z, w, beta, precision);
  check_values("Z", z, largest_coordinate(precision));
  ProgressWatch watch(options.observer);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  ViewSource x_view(x), z_view(z);
  const PointSummary summary = common_origin(x, z);
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
