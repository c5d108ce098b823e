#include "operator/diffusion_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <flashdiffusion/error.hpp>

#include "base/worst.hpp"

namespace fd {
namespace {

Error not_a_kernel(std::size_t row) {
  return {Failure::device, "the kernel product of row " + std::to_string(row + 1) + " is not a number that a kernel can have",
          "run flashdiffusion selftest; try another instruction set (FLASHDIFFUSION_ISA=scalar)"};
}

}  // namespace

DiffusionOperator::DiffusionOperator(Space& space, const Points& points, double beta, double alpha, Watch* watch, Columns carried,
                                     const RowRule& rule)
    : space_(space), points_(points), beta_(beta), watch_(watch) {
  Backend& backend = space.backend();
  const std::size_t n = points.rows();
  auto sums = space.panel(points.layout(), 2);
  pass_begins();
  backend.mass(beta, points, *sums, watch, negligible(points.precision()));
  count_ = {1, 1};
  std::vector<double> host(2 * n);
  backend.download(*sums, host.data());
  q_.resize(n);
  d_.resize(n);
  for (std::size_t i = 0; i < n; ++i) q_[i] = 1 + host[2 * i];
  const std::vector<double> weight = weights(alpha, rule);
  if (sparse_) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (weight[i] == 0) continue;
    s_off_ += host[2 * i];
    s_off_2beta_ += host[2 * i + 1];
  }

  // K (q^-a [psi | 1]): the images of what is carried, and the degree from the last column
  const std::size_t vectors = carried.count, with_degree = alpha == 0 && aside_ == 0 ? 0 : 1;
  std::unique_ptr<Panel> in, out;
  if (vectors + with_degree > 0) {
    in = space.panel(points.layout(), vectors + with_degree);
    out = space.panel(points.layout(), vectors + with_degree);
    backend.upload(weight.data(), {*sums, 0, 1});
    if (vectors > 0) backend.scale_rows({*sums, 0, 1}, carried, {*in, 0, vectors});
    if (with_degree > 0) backend.upload(weight.data(), {*in, vectors, 1});
    pass_begins();
    backend.xgemm(beta, points, *in, *out, watch, {}, negligible(points.precision()));
    count_.passes += 1;
    count_.columns += vectors + with_degree;
  }
  if (with_degree > 0) {
    backend.download({*out, vectors, 1}, d_.data());
    for (std::size_t i = 0; i < n; ++i) d_[i] = weight[i] * (weight[i] + d_[i]);
  } else {
    d_ = q_;
  }

  check_mass_and_degree();

  const auto column = [&](auto&& value) {
    for (std::size_t i = 0; i < n; ++i) host[i] = value(i);
    auto panel = space.panel(points.layout(), 1);
    backend.upload(host.data(), *panel);
    return panel;
  };
  const double norm = std::sqrt(std::accumulate(d_.begin(), d_.end(), 0.0));
  scale_ = column([&](std::size_t i) { return weight[i] == 0 ? 0 : weight[i] / std::sqrt(d_[i]); });
  scale_squared_ = column([&](std::size_t i) { return weight[i] == 0 ? 0 : weight[i] * weight[i] / d_[i]; });
  perron_ = column([&](std::size_t i) { return std::sqrt(d_[i]) / norm; });
  if (aside_ > 0) taking_part_ = column([&](std::size_t i) { return weight[i] == 0 ? 0.0 : 1.0; });
  if (vectors > 0) {  // v = sqrt(d)/norm psi, M v = s (K - I)(q^-a psi)/norm + s^2 v
    start_ = space.panel(points.layout(), vectors);
    start_image_ = space.panel(points.layout(), vectors);
    backend.scale_rows(*perron_, carried, *start_);
    const auto scaled = column([&](std::size_t i) { return weight[i] == 0 ? 0 : weight[i] / std::sqrt(d_[i]) / norm; });
    backend.scale_rows(*scaled, {*out, 0, vectors}, *start_image_);
    backend.multiply_add(*scale_squared_, *start_, *start_image_);
  }
}

DiffusionOperator::DiffusionOperator(Space& space, const Points& points, double beta, Watch* watch, Archive& saved)
    : space_(space), points_(points), beta_(beta), watch_(watch) {
  archive(saved);
  if (q_.size() != points.rows() || !scale_ || !scale_squared_ || !perron_)
    throw Error(Failure::input, "its operator is not one of these points");
}

void DiffusionOperator::archive(Archive& archive) {
  archive(q_, d_, stays_, s_off_, s_off_2beta_, least_share_, aside_, sparse_);
  archive_progress(archive);
  for (auto* panel : {&taking_part_, &scale_, &scale_squared_, &perron_}) space_.archive(archive, layout(), *panel);
}

// Entries that may be left out: with N of them, weighted by w = q^-alpha, a row of K w loses at most N max(w) times the largest, and it has at
// least q_i min(w), where q_i >= 1. So no row of P is off by more than a 64th of what the precision promises, and neither is M in the norm.
double DiffusionOperator::negligible(Precision precision) const {
  return traits(precision).row_error / 64 * least_share_ / static_cast<double>(points_.rows());
}

// P_ii = w_i / sum_j K_ij w_j with w = q^-alpha.
void DiffusionOperator::find_return_probability(const std::vector<double>& weight, bool flat) {
  stays_.resize(weight.size());
  if (flat) {  // w = 1: the sum is q
    for (std::size_t i = 0; i < weight.size(); ++i) stays_[i] = 1 / q_[i];
    return;
  }
  auto in = space_.panel(layout(), 1), out = space_.panel(layout(), 1);
  space_.backend().upload(weight.data(), *in);
  pass_begins();
  space_.backend().xgemm(beta_, points_, *in, *out, watch_, {}, negligible(points_.precision()));
  count_.passes += 1;
  count_.columns += 1;
  space_.backend().download(*out, stays_.data());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    stays_[i] = weight[i] / (weight[i] + stays_[i]);
    if (!std::isfinite(stays_[i])) throw not_a_kernel(i);
  }
}

std::vector<double> DiffusionOperator::weights(double alpha, const RowRule& rule) {
  std::vector<double> weight(q_.size());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = alpha == 0 ? 1.0 : std::pow(q_[i], -alpha);
  const auto [least, most] = std::minmax_element(weight.begin(), weight.end());
  least_share_ = std::max(1.0, *std::min_element(q_.begin(), q_.end())) * *least / *most;
  if (!(rule.most_return < 1)) return weight;
  find_return_probability(weight, alpha == 0);
  std::vector<std::size_t> rows;
  std::size_t kept = 0, unresolved = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const bool keep = rule.keep != nullptr && (*rule.keep)[i] != 0;
    if (keep) ++kept;
    if (keep && !(stays_[i] <= rather_stays)) ++unresolved;
    if (!(stays_[i] <= (keep ? std::max(rule.most_return, hardly_leaves) : rule.most_return))) rows.push_back(i);
  }
  sparse_ = rule.judged && 8 * unresolved > kept;
  if (sparse_) return weight;
  if (rows.size() > rule.most_rows) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return stays_[a] > stays_[b]; });
    rows.resize(rule.most_rows);
  }
  for (const std::size_t i : rows) weight[i] = 0;
  aside_ = rows.size();
  return weight;
}

// K_ii = 1, so q >= 1 and, but for rows set aside, d > 0 whatever the points: anything else is a product that went wrong.
void DiffusionOperator::check_mass_and_degree() const {
  std::size_t without = 0;
  for (std::size_t i = 0; i < q_.size(); ++i)
    if (!(q_[i] >= 1 && std::isfinite(q_[i]) && std::isfinite(d_[i]) && (d_[i] > 0 || (d_[i] == 0 && ++without <= aside_))))
      throw not_a_kernel(i);
}

void DiffusionOperator::pass_begins() {
  if (watch_ != nullptr) watch_->pass_begins();
}

void DiffusionOperator::restrict(Columns directions) {
  if (taking_part_) space_.backend().scale_rows(*taking_part_, directions, directions);
}

void DiffusionOperator::product(Columns in, Columns out, std::optional<Precision> enough) {
  Backend& backend = space_.backend();
  if (!scaled_ || scaled_->columns() < in.count) scaled_ = space_.panel(layout(), in.count);
  const Columns scaled(*scaled_, 0, in.count);
  backend.scale_rows(*scale_, in, scaled);
  pass_begins();
  backend.xgemm(beta_, points_, scaled, out, watch_, enough, negligible(enough.value_or(points_.precision())));
  backend.scale_rows(*scale_, out, out);
  backend.multiply_add(*scale_squared_, in, out);
  count_.passes += 1;
  count_.columns += in.count;
}

double DiffusionOperator::perron_residual() {
  if (perron_wanted_) {  // nothing took it along: a pass of its own
    auto image = space_.panel(layout(), 1);
    product(*perron_, *image);
    note_perron(*image);
  }
  return perron_residual_;
}

void DiffusionOperator::note_perron(Columns image) {
  perron_wanted_ = false;
  space_.combine(*perron_, -Eigen::MatrixXd::Identity(1, 1), image, true);
  perron_residual_ = root(space_.gram(image, image)(0, 0));
}

// A width below four, or one that is not a whole number of vectors, has room for one more column.
bool DiffusionOperator::perron_rides(std::size_t columns) {
  return perron_wanted_ && (columns < 4 || (columns > 8 && columns % 8 != 0) || ++applied_ >= 5);
}

void DiffusionOperator::apply(Columns in, Columns out) { perron_rides(in.count) ? apply_with_perron(in, out) : product(in, out); }

double DiffusionOperator::apply_low_precision(Columns in, Columns out, double permitted) {
  const double error = space_.backend().low_precision_error(beta_, points_, Precision::tf32);
  if (error == 0 || error > permitted) return Operator::apply_low_precision(in, out, permitted);
  if (perron_rides(in.count)) {  // its residual is rounding, which a low-precision pass does not show
    apply_with_perron(in, out);
    return 0;
  }
  product(in, out, Precision::tf32);
  return error;
}

void DiffusionOperator::apply_with_perron(Columns in, Columns out) {
  auto with_perron = space_.panel(layout(), in.count + 1), image = space_.panel(layout(), in.count + 1);
  const Columns all(*with_perron), last(*with_perron, in.count, 1), image_last(*image, in.count, 1);
  space_.copy(in, {*with_perron, 0, in.count});
  space_.copy(*perron_, last);
  product(all, *image);
  count_.columns -= 1;  // not a vector the caller asked for
  space_.copy({*image, 0, in.count}, out);
  note_perron(image_last);
}

}  // namespace fd
