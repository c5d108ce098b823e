#include "fit/far_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "base/team.hpp"
#include "fit/some_rows.hpp"

namespace fd {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index chunk_rows = 512;                              // of the fitted ones
constexpr std::size_t block_rows = 32, group_rows = 64 * block_rows;  // of those to be placed: a task, and what is read at once

// Rows that took part in the fit, some at a time.
struct Fitted {
  Rows z, psi;
  Eigen::VectorXd offset;  // -beta |z|^2 - alpha log q

  Fitted(const Model& model, const std::vector<std::size_t>& part, std::size_t first)
      : z(std::min(chunk_rows, static_cast<Eigen::Index>(part.size() - first)), static_cast<Eigen::Index>(model.dimension)),
        psi(z.rows(), static_cast<Eigen::Index>(model.modes())),
        offset(z.rows()) {
    for (Eigen::Index i = 0; i < z.rows(); ++i) {
      const std::size_t row = part[first + static_cast<std::size_t>(i)];
      for (Eigen::Index c = 0; c < z.cols(); ++c) z(i, c) = model.points(row, static_cast<std::size_t>(c));
      for (Eigen::Index j = 0; j < psi.cols(); ++j) psi(i, j) = model.psi(row, static_cast<std::size_t>(j));
      offset[i] = -model.beta * z.row(i).squaredNorm() - model.alpha * std::log(model.q[row]);
    }
  }
};

// sum_l p(x, l) psi_l for rows x (2 beta x, that is). Exponents are taken relative to the largest so far.
Rows extension(const Model& model, const Rows& twice_beta_x, const std::vector<std::size_t>& part) {
  const Eigen::Index rows = twice_beta_x.rows();
  Rows sums = Rows::Zero(rows, static_cast<Eigen::Index>(model.modes()));
  Eigen::VectorXd total = Eigen::VectorXd::Zero(rows);
  Eigen::VectorXd largest = Eigen::VectorXd::Constant(rows, -std::numeric_limits<double>::infinity());
  for (std::size_t first = 0; first < part.size(); first += static_cast<std::size_t>(chunk_rows)) {
    const Fitted fitted(model, part, first);
    Rows weight = twice_beta_x * fitted.z.transpose();
    weight.rowwise() += fitted.offset.transpose();
    const Eigen::VectorXd now = largest.cwiseMax(weight.rowwise().maxCoeff());
    const Eigen::VectorXd shrink = (largest - now).array().exp();
    largest = now;
    weight = (weight.colwise() - largest).array().exp();
    total = shrink.cwiseProduct(total) + weight.rowwise().sum();
    sums = shrink.asDiagonal() * sums;
    sums += weight * fitted.psi;
  }
  return total.cwiseInverse().asDiagonal() * sums;
}

}  // namespace

void place_far_rows(const Model& model, PointSource& fresh, const std::vector<std::size_t>& rows,
                    const std::vector<double>& scale, int threads, Watch& watch, Table& out) {
  if (rows.empty()) return;
  std::vector<std::size_t> part;  // rows left out of the fit weigh nothing
  double extent = 0;
  for (std::size_t i = 0; i < model.n; ++i) {
    if (!(model.d[i] > 0)) continue;
    part.push_back(i);
    for (std::size_t c = 0; c < model.dimension; ++c) extent = std::max(extent, std::abs(model.points(i, c)));
  }
  const std::size_t dimension = model.dimension;
  // A row so far that products would overflow is as good as nearer ones in its direction.
  const double farthest = 1e300 / (1 + extent) / (1 + 2 * model.beta) / static_cast<double>(dimension);
  Team team(threads);
  std::vector<double> values;
  for (std::size_t group = 0; group < rows.size(); group += group_rows) {
    const std::size_t count = std::min(group_rows, rows.size() - group);
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(group);
    values.resize(count * dimension);
    SomeRows(fresh, {begin, begin + static_cast<std::ptrdiff_t>(count)}).read(0, count, values.data());
    const auto place_block = [&](std::size_t block, int) {
      const std::size_t first = block * block_rows, size = std::min(block_rows, count - first);
      Rows x(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(dimension));
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        for (Eigen::Index c = 0; c < x.cols(); ++c) {
          const auto column = static_cast<std::size_t>(c);
          x(i, c) = values[(first + static_cast<std::size_t>(i)) * dimension + column] - model.mean[column];
        }
        const double reach = x.row(i).cwiseAbs().maxCoeff();
        x.row(i) *= 2 * model.beta * (reach > farthest ? farthest / reach : 1.0);
      }
      const Rows placed = extension(model, x, part);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < scale.size(); ++j)
          out.set(rows[group + first + i], j, scale[j] * placed(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    };
    const double done = static_cast<double>(group) / static_cast<double>(rows.size());
    team.run((count + block_rows - 1) / block_rows, place_block, [&] { watch.tick(done); });
  }
}

}  // namespace fd
