#include "operator/diffusion_operator.hpp"

#include <cmath>
#include <numeric>

namespace fd {

DiffusionOperator::DiffusionOperator(Space& space, const Points& points, double beta, double alpha, Watch* watch)
    : space_(space), points_(points), beta_(beta), watch_(watch) {
  Backend& backend = space.backend();
  const std::size_t n = points.rows();
  auto sums = space.panel(n, 2);
  backend.mass(beta, points, *sums, watch);
  count_ = {1, 1};
  std::vector<double> host(2 * n);
  backend.download(&points, *sums, host.data());
  q_.resize(n);
  d_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    s_off_ += host[2 * i];
    s_off_2beta_ += host[2 * i + 1];
    q_[i] = 1 + host[2 * i];
  }

  std::vector<double> weight(n);  // q^-alpha
  for (std::size_t i = 0; i < n; ++i) weight[i] = alpha == 0 ? 1.0 : std::pow(q_[i], -alpha);
  if (alpha == 0) {
    d_ = q_;
  } else {
    const Columns in(*sums, 0, 1), out(*sums, 1, 1);
    backend.upload(&points, weight.data(), in);
    backend.xgemm(beta, points, in, out, watch);
    backend.download(&points, out, d_.data());
    for (std::size_t i = 0; i < n; ++i) d_[i] = weight[i] * (weight[i] + d_[i]);
    count_.passes += 1;
    count_.columns += 1;
  }

  const auto column = [&](auto&& value) {
    for (std::size_t i = 0; i < n; ++i) host[i] = value(i);
    auto panel = space.panel(n, 1);
    backend.upload(&points, host.data(), *panel);
    return panel;
  };
  const double norm = std::sqrt(std::accumulate(d_.begin(), d_.end(), 0.0));
  scale_ = column([&](std::size_t i) { return weight[i] / std::sqrt(d_[i]); });
  scale_squared_ = column([&](std::size_t i) { return weight[i] * weight[i] / d_[i]; });
  perron_ = column([&](std::size_t i) { return std::sqrt(d_[i]) / norm; });
}

void DiffusionOperator::product(Columns in, Columns out) {
  Backend& backend = space_.backend();
  if (!scaled_ || scaled_->columns() < in.count) scaled_ = space_.panel(points_.rows(), in.count);
  const Columns scaled(*scaled_, 0, in.count);
  backend.scale_rows(*scale_, in, scaled);
  backend.xgemm(beta_, points_, scaled, out, watch_);
  backend.scale_rows(*scale_, out, out);
  backend.multiply_add(*scale_squared_, in, out);
  count_.passes += 1;
  count_.columns += in.count;
}

void DiffusionOperator::apply(Columns in, Columns out) {
  // v0 rides along where the width is not a whole number of vectors, so that it costs next to nothing; at the third call anyway
  const bool free_ride = in.count % 8 != 0;
  if (perron_residual_ >= 0 || (!free_ride && ++applied_ < 3)) return product(in, out);
  auto with_perron = space_.panel(points_.rows(), in.count + 1), image = space_.panel(points_.rows(), in.count + 1);
  const auto width = static_cast<Eigen::Index>(in.count);
  const Columns all(*with_perron), last(*with_perron, in.count, 1), image_last(*image, in.count, 1);
  space_.combine(in, Eigen::MatrixXd::Identity(width, width), {*with_perron, 0, in.count});
  space_.combine(*perron_, Eigen::MatrixXd::Identity(1, 1), last);
  product(all, *image);
  count_.columns -= 1;  // not a vector the caller asked for
  space_.combine({*image, 0, in.count}, Eigen::MatrixXd::Identity(width, width), out);
  space_.combine(*perron_, -Eigen::MatrixXd::Identity(1, 1), image_last, true);
  perron_residual_ = std::sqrt(std::max(0.0, space_.gram(image_last, image_last)(0, 0)));
}

}  // namespace fd
