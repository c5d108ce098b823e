#include <flashdiffusion/kernel_operator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "fit/forecast.hpp"
#include "fit/progress_watch.hpp"
#include "fit/stoppable_source.hpp"

namespace fd {
namespace {

// Refuses what no product can be made of, by row and column: NaN, infinity, and what is larger than `largest`.
void check_values(const std::string& name, PointsView view, double largest, Observer* observer) {
  if (view.missing())
    throw Error(Failure::misuse, "the pointer to " + name + " is null", "pass the address of rows × columns values");
  if (view.rows() == 0 || view.dimension() == 0)
    throw Error(Failure::input, name + " has no " + (view.rows() == 0 ? "rows" : "columns"));
  ViewSource values(view);
  StoppableSource source(values, observer);
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

// The origin is that of z, or its one point where all are equal: these have a kernel too. Columns in which no point leaves it are
// dropped.
PointSummary common_origin(PointSource& x, PointSource& z, Precision precision) {
  std::vector<double> point(z.dimension());
  z.read(0, 1, point.data());
  const auto leaves = [&](PointSource& source, const std::vector<double>& origin) {
    std::vector<char> columns(origin.size(), 0);
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
    summary = summarise(z, {precision});
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

// Beyond, a coordinate may have too few digits for the promise. (Within one set of points a back-end looks for rows that this concerns.)
void check_distances(const std::string& name, PointSource& source, const PointSummary& summary, double beta,
                     Precision precision) {
  const std::size_t dimension = source.dimension();
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      double square = 0;
      for (const std::size_t c : summary.varying) square += std::pow(rows[i * dimension + c] - summary.mean[c], 2);
      const double distance = std::sqrt(square), largest = traits(precision).farthest;
      if (distance * std::sqrt(beta) <= largest) continue;
      throw Error(
          Failure::input,
          fmt::format("row {} of {} lies {:.2g} from the middle: at beta = {:g} more than {} can hold", first + i + 1, name,
                      distance, beta, traits(precision).name),
          fmt::format("remove it, give a beta below {:.2g}, or take a higher precision", std::pow(largest / distance, 2)));
    }
  });
}

}  // namespace

struct KernelOperator::Loaded {
  double beta;
  Precision precision;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Points> x, z;  // z is null where the operator is symmetric
  mutable std::mutex busy;       // a back-end runs one pass at a time

  Loaded(PointsView points, PointsView others, bool symmetric, double bandwidth, const Options& options)
      : beta(bandwidth), precision(last_precision(options)) {
    if (!(beta > 0) || !std::isfinite(beta))
      throw Error(Failure::misuse, "beta must be positive and finite", "it is the bandwidth of exp(-beta |x-y|^2)");
    if (points.dimension() != others.dimension())
      throw Error(Failure::misuse,
                  "X has " + std::to_string(points.dimension()) + " columns, Z has " + std::to_string(others.dimension()),
                  "both hold the same columns in the same order");
    check_values("X", points, largest_coordinate(precision), options.observer);
    const std::size_t keep = symmetric ? keep_bytes(points.rows(), points.dimension(), options) : 0;
    backend = make_backend({options.backend, options.isa, options.threads, keep, true});
  }

  // Y = K W for W on the rows of `from` and Y on those of `to`.
  Table product(const Points& to, const Points& from, PointsView w, Observer* observer, bool diagonal) const {
    if (z && !diagonal)
      throw Error(Failure::misuse, "the kernel between X and Z has no diagonal to leave out",
                  "leave out the second set of points");
    if (from.rows() != w.rows())
      throw Error(Failure::misuse, "W has " + std::to_string(w.rows()) + " rows, the points have " + std::to_string(from.rows()),
                  "W holds a row for each point it weighs");
    check_values("W", w, largest_weight(precision, w.rows()), observer);
    Table result(to.rows(), w.dimension(), traits(precision).wide_panels);
    const std::lock_guard lock(busy);
    ProgressWatch watch(observer);
    auto in = backend->panel(from.layout(), w.dimension(), precision),
         out = backend->panel(to.layout(), w.dimension(), precision);
    std::vector<double> host(w.rows() * w.dimension());
    w.read(0, w.rows(), host.data());
    backend->upload(host.data(), *in);
    const double pairs = static_cast<double>(to.rows()) * static_cast<double>(from.rows());
    if (z) {
      watch.pass(pairs);
      backend->xgemm(beta, to, from, *in, *out, &watch);
    } else {
      watch.pass(0.5 * pairs);
      backend->xgemm(beta, to, *in, *out, &watch);
      if (diagonal) backend->add(*in, *out);
    }
    host.resize(to.rows() * w.dimension());
    backend->download(*out, host.data());
    result.visit([&](auto& values) { std::copy(host.begin(), host.end(), values.begin()); });
    return result;
  }
};

KernelOperator::KernelOperator(PointsView x, double beta, const Options& options)
    : loaded_(std::make_unique<Loaded>(x, x, true, beta, options)) {
  ViewSource view(x);
  StoppableSource source(view, options.observer);
  const PointSummary summary = common_origin(source, source, loaded_->precision);
  CentredSource centred(source, summary);
  loaded_->x = loaded_->backend->load(centred, loaded_->precision);
}

KernelOperator::KernelOperator(PointsView x, PointsView z, double beta, const Options& options)
    : loaded_(std::make_unique<Loaded>(x, z, false, beta, options)) {
  check_values("Z", z, largest_coordinate(loaded_->precision), options.observer);
  ViewSource x_view(x), z_view(z);
  StoppableSource x_source(x_view, options.observer), z_source(z_view, options.observer);
  const PointSummary summary = common_origin(x_source, z_source, loaded_->precision);
  check_distances("X", x_source, summary, beta, loaded_->precision);
  check_distances("Z", z_source, summary, beta, loaded_->precision);
  CentredSource x_centred(x_source, summary), z_centred(z_source, summary);
  loaded_->x = loaded_->backend->load(x_centred, loaded_->precision);
  loaded_->z = loaded_->backend->load(z_centred, loaded_->precision);
}

KernelOperator::KernelOperator(KernelOperator&&) noexcept = default;
KernelOperator& KernelOperator::operator=(KernelOperator&&) noexcept = default;
KernelOperator::~KernelOperator() = default;

std::size_t KernelOperator::rows() const { return loaded_->x->rows(); }
std::size_t KernelOperator::columns() const { return loaded_->z ? loaded_->z->rows() : loaded_->x->rows(); }
double KernelOperator::beta() const { return loaded_->beta; }

Table KernelOperator::apply(PointsView w, Observer* observer, bool diagonal) const {
  return loaded_->product(*loaded_->x, loaded_->z ? *loaded_->z : *loaded_->x, w, observer, diagonal);
}

Table KernelOperator::apply_transposed(PointsView w, Observer* observer, bool diagonal) const {
  return loaded_->product(loaded_->z ? *loaded_->z : *loaded_->x, *loaded_->x, w, observer, diagonal);
}

}  // namespace fd
