// What a model claims, held against dense fp64: values, residuals, order, missed eigenvalues, scale, signs, flags, and where rows that took
// no part were placed. Shares no code with the library's operator or solver.
//
// The allowance is derived, not tried. A precision promises rows of K W to e (row_error) of the same rows of K |W|. Then q is off by e,
// d = q^-a K q^-a by (1 + 2a) e, s = q^-a d^-1/2 by (1/2 + 2a) e, each relative, so that for unit v
//   |(M' - M) v| <= (2 + 4a) e |M |v|| <= (2 + 4a) e.
// Panels of floats or doubles add the solver's own rounding, for which one more e of fp32 or fp64 is allowed. With h the sum of these:
//   true residual <= reported + h                         (honest)
//   lambda_j <= dense_j + h                               (Cauchy: orthonormal vectors cannot exceed)
//   lambda_j >= dense_j - max(tolerance, |all residuals|) - h, converged
//                                                         (Kahan: as many eigenvalues as vectors, none missed but within the tolerance)
// A table of thousands of rows has its dense eigenvalues bounded from below alone (krylov_values), which shows what was missed.
//
// A row x that took no part has psi(x) = sum_i p(x, i) psi_i / lambda with p(x, i) = k(x, i) q_i^-a / sum_l k(x, l) q_l^-a: a quotient of two
// rows of K W, so lambda psi(x) is off by 2 e + 2 a e of sum p |psi|, and by what points kept as floats are off (1e-5, kept_points). Where
// nothing is in the kernel's reach p is that of the nearest row. Where lambda is no larger than e, psi(x) is 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>

#include "support/dense_diffusion.hpp"

namespace fd::test {

// h above.
inline double promised_error(double alpha, Precision precision) {
  const PrecisionTraits& promise = traits(precision);
  const double panels = traits(promise.wide_panels ? Precision::fp64 : Precision::fp32).row_error;
  return (2 + 4 * alpha) * promise.row_error + panels;
}

class ModelClaims {
 public:
  ModelClaims(const Dataset& data, const Options& options, const Model& model) : options_(options), model_(model) {
    check_shapes(data);
    if (!false_.empty()) return;
    std::vector<std::size_t> fitted;  // rows that were left out have no degree
    for (std::size_t i = 0; i < model.n; ++i)
      if (model.d[i] != 0) fitted.push_back(i);
    claim(fitted.size() >= 2, "only {} rows have a degree", fitted.size());
    if (fitted.size() < 2) return;
    allowed_ = promised_error(model.alpha, model.precision);
    row_error_ = traits(model.precision).row_error;
    check_flags(fitted.size());
    // rows that the flow set aside count in the mass of the others; rows that were to be left out do not
    const Eigen::MatrixXd whole = dense_kernel(data, model.beta);
    Eigen::MatrixXd kernel = whole(fitted, fitted);
    Eigen::VectorXd mass = options.trim ? row_sums(kernel) : Eigen::VectorXd(row_sums(whole)(fitted));
    all_values_ = fitted.size() <= 1500;
    if (all_values_) {
      dense_ = dense_diffusion(std::move(kernel), std::move(mass), model.alpha, false);
    } else {
      dense_ = dense_operator(std::move(kernel), std::move(mass), model.alpha);
      dense_.values = krylov_values(dense_, static_cast<Eigen::Index>(model.modes() + 16), 8);
    }
    claim(dense_.values.allFinite(), "the dense spectrum at beta {} is not finite", model.beta);
    if (!dense_.values.allFinite()) return;
    check_mass(fitted);
    check_vectors(fitted);
    check_spectrum();
    check_placement(data, whole, fitted);
  }

  const std::vector<std::string>& false_ones() const { return false_; }
  // The largest (true - reported) residual, as a share of what is allowed: below 1 where every claim holds.
  double worst_share() const { return worst_share_; }
  // The largest true residual over what was reported, among those above what is allowed.
  double worst_ratio() const { return worst_ratio_; }

 private:
  template <class... Values>
  void claim(bool holds, fmt::format_string<Values...> text, Values&&... values) {
    if (!holds) false_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void check_shapes(const Dataset& data) {
    const std::size_t k = model_.modes();
    claim(model_.n == data.rows && model_.dimension == data.dimension, "shape: n {}, dimension {}", model_.n, model_.dimension);
    claim(model_.residuals.size() == k, "count: {} residuals of {} eigenvalues", model_.residuals.size(), k);
    claim(model_.psi.rows() == data.rows && model_.psi.columns() == k, "count: psi is {} x {}, with {} eigenvalues",
          model_.psi.rows(), model_.psi.columns(), k);
    claim(model_.q.size() == data.rows && model_.d.size() == data.rows, "count: {} masses, {} degrees", model_.q.size(),
          model_.d.size());
    claim(k <= options_.modes, "count: {} modes, {} asked for", k, options_.modes);
    claim(model_.beta > 0 && std::isfinite(model_.beta), "beta is {}", model_.beta);
    claim(!model_.sweep.empty(), "the sweep is empty");
    claim(!model_.outcome.empty(), "the outcome says nothing");
    claim(std::isfinite(model_.perron_residual), "the Perron residual is {}", model_.perron_residual);
  }

  void check_flags(std::size_t fitted) {
    for (std::size_t j = 0; j < model_.modes(); ++j) {
      claim(std::isfinite(model_.eigenvalues[j]), "value: eigenvalue {} is {}", j, model_.eigenvalues[j]);
      claim(model_.residuals[j] >= 0 && std::isfinite(model_.residuals[j]), "value: residual {} is {}", j, model_.residuals[j]);
      claim(j == 0 || model_.eigenvalues[j] <= model_.eigenvalues[j - 1], "order: eigenvalue {} is {} after {}", j,
            model_.eigenvalues[j], model_.eigenvalues[j - (j > 0 ? 1 : 0)]);
      claim(!model_.converged || model_.residuals[j] <= options_.tolerance, "flag: converged, but residual {} is {:.3e}", j,
            model_.residuals[j]);
    }
    claim(!model_.converged || model_.modes() == std::min(options_.modes, fitted - 1), "flag: converged, but {} of {} modes",
          model_.modes(), options_.modes);
    claim(model_.beta == model_.sweep.back().beta, "the last row of the sweep is at {}, the model at {}",
          model_.sweep.back().beta, model_.beta);
  }

  void check_mass(const std::vector<std::size_t>& fitted) {
    double q_off = 0, d_off = 0;
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      const double q = dense_.q(static_cast<Eigen::Index>(i)), d = dense_.d(static_cast<Eigen::Index>(i));
      q_off = worse(q_off, std::abs(model_.q[fitted[i]] - q) / q);
      d_off = worse(d_off, std::abs(model_.d[fitted[i]] - d) / d);
    }
    claim(q_off <= row_error_, "mass: off by {:.3e}, promised {:.3e}", q_off, row_error_);
    claim(d_off <= (1 + 2 * model_.alpha) * row_error_, "degree: off by {:.3e}, promised {:.3e}", d_off,
          (1 + 2 * model_.alpha) * row_error_);
  }

  // v = sqrt(pi) psi: orthonormal, orthogonal to sqrt(pi), psi's largest entry positive. Rounding: a float or double for each entry, and
  // orthonormalisation to that, whose sums over N entries grow as sqrt(N).
  void check_vectors(const std::vector<std::size_t>& fitted) {
    const auto n = static_cast<Eigen::Index>(fitted.size()), k = static_cast<Eigen::Index>(model_.modes());
    Eigen::VectorXd root(n);
    v_.resize(n, k);
    for (Eigen::Index i = 0; i < n; ++i) root(i) = std::sqrt(model_.d[fitted[static_cast<std::size_t>(i)]]);
    root.normalize();
    const double unit = traits(model_.precision).wide_panels ? 0x1p-53 : 0x1p-24;
    const double rounding = 64 * unit * std::sqrt(static_cast<double>(n));
    for (Eigen::Index j = 0; j < k; ++j) {
      double low = 0, high = 0;
      for (Eigen::Index i = 0; i < n; ++i) {
        const double psi = model_.psi(fitted[static_cast<std::size_t>(i)], static_cast<std::size_t>(j));
        claim(std::isfinite(psi), "value: psi({}, {}) is {}", i, j, psi);
        low = std::min(low, psi);
        high = std::max(high, psi);
        v_(i, j) = root(i) * psi;
      }
      claim(high >= -low && high > 0, "sign: mode {} runs from {} to {}", j, low, high);
    }
    const double scale = k > 0 ? (v_.colwise().squaredNorm().array() - 1).abs().maxCoeff() : 0;
    claim(scale <= rounding, "scale: sum pi psi^2 is off by {:.3e}", scale);
    const double trivial = k > 0 ? (root.transpose() * v_).cwiseAbs().maxCoeff() : 0;
    claim(trivial <= rounding, "Perron: a mode holds {:.3e} of the trivial one", trivial);
    const double angle = k > 0 ? (v_.transpose() * v_ - Eigen::MatrixXd::Identity(k, k)).cwiseAbs().maxCoeff() : 0;
    claim(angle <= rounding, "orthogonality: modes are off by {:.3e}, rounding gives {:.3e}", angle, rounding);
  }

  void check_spectrum() {
    double squares = options_.tolerance * options_.tolerance, sum = 0;
    for (const double residual : model_.residuals) sum += residual * residual;
    if (!(sum <= squares)) squares = sum;
    for (std::size_t j = 0; j < model_.modes(); ++j) {
      const auto at = static_cast<Eigen::Index>(j);
      const double value = model_.eigenvalues[j], reported = model_.residuals[j];
      const double measured = (dense_.symmetric * v_.col(at) - value * v_.col(at)).norm() / v_.col(at).norm();
      worst_share_ = worse(worst_share_, (measured - reported) / allowed_);
      if (measured > allowed_) worst_ratio_ = worse(worst_ratio_, measured / reported);
      claim(measured <= reported + allowed_, "residual: mode {} (eigenvalue {:.6g}) reports {:.3e}, has {:.3e}; {:.1e} allowed",
            j, value, reported, measured, allowed_);
      if (all_values_) {
        const double near = std::min((dense_.values.array() - value).abs().minCoeff(), std::abs(1 - value));
        claim(near <= reported + allowed_, "value: eigenvalue {} = {:.9g} is {:.3e} from any, residual {:.3e}", j, value, near,
              reported);
        claim(value <= dense_.values(at) + allowed_, "order: eigenvalue {} is {:.9g}, dense {:.9g}", j, value, dense_.values(at));
      }
      // of a value within the tolerance of zero a model says that nothing else is known
      const bool said_unknown = std::abs(value) <= options_.tolerance && dense_.values(at) <= 2 * options_.tolerance;
      claim(!model_.converged || said_unknown || value >= dense_.values(at) - std::sqrt(squares) - allowed_,
            "missed: eigenvalue {} is {:.9g}, dense {:.9g}, residual {:.3e}", j, value, dense_.values(at), reported);
    }
  }

  void check_placement(const Dataset& data, const Eigen::MatrixXd& whole, const std::vector<std::size_t>& fitted) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < model_.n; ++i)
      if (model_.d[i] == 0) out.push_back(i);
    claim(model_.aside == out, "aside: {} rows are listed, {} have no degree", model_.aside.size(), out.size());
    // two in a hundred, and one of 20 to 49
    const auto most = std::max(static_cast<std::size_t>(0.02 * static_cast<double>(model_.n)), std::size_t{model_.n >= 20});
    claim(options_.trim || out.size() <= most, "aside: {} of {} rows", out.size(), model_.n);
    const auto n = static_cast<Eigen::Index>(fitted.size()), k = static_cast<Eigen::Index>(model_.modes());
    Eigen::MatrixXd psi(n, k);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < k; ++j)
        psi(i, j) = model_.psi(fitted[static_cast<std::size_t>(i)], static_cast<std::size_t>(j));
    // a sum over psi and one over 1 beside other points, each right to twice row_error (kernel_product.hpp)
    const double share = (4 + 2 * model_.alpha) * row_error_ + (model_.psi.wide() ? 0 : 1e-5);
    for (const std::size_t row : out) {
      // p_i ~ K_i q_i^-alpha, relative to the largest: a row beyond the kernel's reach has the limit of what nearer ones have
      const Eigen::VectorXd exponent =
          -model_.beta * squared_distances(data, row, fitted).array() - model_.alpha * dense_.q.array().log();
      const Eigen::VectorXd weighted = (exponent.array() - exponent.maxCoeff()).exp();
      const Eigen::VectorXd p = weighted / weighted.sum();
      const double sum = whole.row(static_cast<Eigen::Index>(row))(fitted).sum();
      for (Eigen::Index j = 0; j < k; ++j) {
        const auto mode = static_cast<std::size_t>(j);
        if (!(std::abs(model_.eigenvalues[mode]) > traits(model_.precision).row_error)) {
          claim(model_.psi(row, mode) == 0, "placement: row {} has psi_{} = {:.9g}, though its eigenvalue is rounding", row, j,
                model_.psi(row, mode));
          continue;
        }
        const double placed = model_.eigenvalues[mode] * model_.psi(row, mode);
        // Exponents of a thousand are known to fewer digits than weights near 1 are: what rounding moves a coordinate by counts times the
        // distance, which is some 6 kernel widths at most where a row has mass.
        const double farther = std::max(1.0, std::sqrt(std::abs(exponent.maxCoeff())) / 6);
        const double digits = farther * share + 64 * 0x1p-53 * std::abs(exponent.maxCoeff());
        const double extended = std::abs(placed - p.dot(psi.col(j))), size = p.dot(psi.col(j).cwiseAbs());
        // Entries that fall out of the numbers' range are nothing (kernel_product.hpp), also where the mode is largest. Rows of next to no mass are
        // placed without the kernel.
        const double vanished = sum > 1e-30 && !traits(model_.precision).wide_panels ? 0x1p-126 / sum : 0;
        claim(extended <= digits * size + vanished * psi.col(j).cwiseAbs().sum(),
              "placement: row {} has lambda psi_{} = {:.9g}, extension {:.9g} (of {:.3e})", row, j, placed, p.dot(psi.col(j)),
              sum);
      }
    }
  }

  Eigen::VectorXd squared_distances(const Dataset& data, std::size_t row, const std::vector<std::size_t>& among) const {
    Eigen::VectorXd squared = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(among.size()));
    for (std::size_t i = 0; i < among.size(); ++i)
      for (std::size_t c = 0; c < data.dimension; ++c)
        squared(static_cast<Eigen::Index>(i)) +=
            std::pow(data.x[row * data.dimension + c] - data.x[among[i] * data.dimension + c], 2);
    return squared;
  }

  // In double a sum of thousands of equal entries, as of copies, is off by as many roundings, all in one direction.
  static Eigen::VectorXd row_sums(const Eigen::MatrixXd& a) {
    const Eigen::Matrix<long double, Eigen::Dynamic, 1> sums = a.cast<long double>().rowwise().sum();
    return sums.cast<double>();
  }

  // NaN is the worst.
  static double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

  const Options& options_;
  const Model& model_;
  DenseDiffusion dense_;
  Eigen::MatrixXd v_;
  bool all_values_ = true;
  double allowed_ = 0, row_error_ = 0, worst_share_ = 0, worst_ratio_ = 0;
  std::vector<std::string> false_;
};

}  // namespace fd::test
