#include "solver/leading_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/eigenpairs.hpp"

namespace fd {
namespace {

constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr Eigen::Index too_small = 16;  // for anything but the full decomposition
constexpr Eigen::Index narrow = 8;      // a band of an eighth of the matrix: wider ones cost as much as reflections do
constexpr int most_iterations = 6;

// (T - shift I) x = b for a symmetric tridiagonal T: elimination with row exchanges, which fill a second superdiagonal. A pivot that is zero, as
// it should be at an eigenvalue, is taken as a rounding of T.
class Shifted {
 public:
  Shifted(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside, double shift, double size)
      : pivot_(diagonal.array() - shift),
        above_(beside),
        second_(Eigen::VectorXd::Zero(beside.size())),
        factor_(beside.size()),
        swapped_(static_cast<std::size_t>(beside.size()), 0) {
    const double least = unit * size;
    for (Eigen::Index i = 0; i < beside.size(); ++i) {
      const double below = beside(i);
      if (std::abs(pivot_(i)) >= std::abs(below)) {
        if (std::abs(pivot_(i)) < least) pivot_(i) = least;
        factor_(i) = below / pivot_(i);
        pivot_(i + 1) -= factor_(i) * above_(i);
      } else {
        swapped_[static_cast<std::size_t>(i)] = 1;
        factor_(i) = pivot_(i) / below;
        pivot_(i) = below;
        const double right = pivot_(i + 1);
        pivot_(i + 1) = above_(i) - factor_(i) * right;
        above_(i) = right;
        if (i + 1 < beside.size()) {
          second_(i) = above_(i + 1);
          above_(i + 1) = -factor_(i) * second_(i);
        }
      }
    }
    if (std::abs(pivot_(beside.size())) < least) pivot_(beside.size()) = least;
  }

  void solve(Eigen::VectorXd& x) const {
    const Eigen::Index n = pivot_.size();
    for (Eigen::Index i = 0; i + 1 < n; ++i) {
      if (swapped_[static_cast<std::size_t>(i)] != 0) std::swap(x(i), x(i + 1));
      x(i + 1) -= factor_(i) * x(i);
    }
    for (Eigen::Index i = n - 1; i >= 0; --i) {
      double sum = x(i);
      if (i + 1 < n) sum -= above_(i) * x(i + 1);
      if (i + 2 < n) sum -= second_(i) * x(i + 2);
      x(i) = sum / pivot_(i);
    }
  }

 private:
  Eigen::VectorXd pivot_, above_, second_, factor_;
  std::vector<char> swapped_;
};

// Eigenvalues of a symmetric tridiagonal matrix of entries about 1, descending: the QL iteration in rational form (Reinsch 1973), on squares of
// the off-diagonal entries, without a root or an angle in its inner loop. Empty where it does not end.
Eigen::VectorXd tridiagonal_values(Eigen::VectorXd d, const Eigen::VectorXd& beside) {
  constexpr int most_sweeps = 40;
  const Eigen::Index n = d.size();
  Eigen::VectorXd e2 = Eigen::VectorXd::Zero(n);
  e2.head(n - 1) = beside.array().square();
  double moved = 0, size = 0, rounding = 0;
  for (Eigen::Index l = 0; l < n; ++l) {
    const double here = std::abs(d(l)) + std::sqrt(e2(l));
    if (here > size) size = here, rounding = unit * size;
    const double nothing = rounding * rounding;
    Eigen::Index m = l;
    while (e2(m) > nothing) ++m;  // the last one is zero
    for (int sweep = 0; m != l && e2(l) > nothing; ++sweep) {
      if (sweep == most_sweeps) return {};
      const double root = std::sqrt(e2(l)), start = d(l), p = (d(l + 1) - start) / (2 * root);
      d(l) = root / (p + std::copysign(std::sqrt(p * p + 1), p));
      const double shift = start - d(l);
      d.segment(l + 1, n - l - 1).array() -= shift;
      moved += shift;
      double g = d(m) == 0 ? rounding : d(m), h = g, s = 0;
      for (Eigen::Index i = m - 1; i >= l; --i) {
        const double q = g * h, r = q + e2(i);
        e2(i + 1) = s * r;
        s = e2(i) / r;
        d(i + 1) = h + s * (h + d(i));
        g = d(i) - e2(i) / g;
        if (g == 0) g = rounding;
        h = g * (q / r);
      }
      e2(l) = s * g * h;
      d(l) = h;
      if (!std::isfinite(h) || e2(l) < 0) return {};
      m = l;
      while (e2(m) > nothing) ++m;
    }
    d(l) += moved;
  }
  std::sort(d.begin(), d.end(), std::greater<>());
  return d;
}

// Between -1 and 1, without a pattern that an eigenvector would have.
double scattered(Eigen::Index i) {
  std::uint64_t bits = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
}

Eigen::VectorXd product(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside, const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size();
  Eigen::VectorXd y = diagonal.cwiseProduct(x);
  y.head(n - 1) += beside.cwiseProduct(x.tail(n - 1));
  y.tail(n - 1) += beside.cwiseProduct(x.head(n - 1));
  return y;
}

}  // namespace

LeadingPairs::LeadingPairs(const Eigen::MatrixXd& a) : a_(a) {
  if (!a.allFinite()) return;
  if (a.size() > 0 && !a.isZero(0)) scale_ = a.cwiseAbs().maxCoeff();
  a_ /= scale_;
  if (a.rows() >= too_small) {
    if (const Eigen::Index band = bandwidth(a_); narrow * band <= a.rows()) {
      band_reduced_.emplace(a_, band);
      diagonal_ = Eigen::VectorXd(band_reduced_->diagonal());
      beside_ = Eigen::VectorXd(band_reduced_->beside());
    } else {
      reduced_.emplace(a_);
      diagonal_ = Eigen::VectorXd(reduced_->diagonal());
      beside_ = Eigen::VectorXd(reduced_->subDiagonal());
    }
    values_ = Eigen::VectorXd(scale_ * tridiagonal_values(diagonal_, beside_));
    found_ = values_.size() > 0;
  }
  if (!found_) decompose();
}

LeadingPairs LeadingPairs::of_diagonal(const Eigen::VectorXd& descending) {
  LeadingPairs pairs;
  pairs.values_ = descending;
  pairs.vectors_ = Eigen::MatrixXd(Eigen::MatrixXd::Identity(descending.size(), descending.size()));
  pairs.found_ = true;
  return pairs;
}

void LeadingPairs::decompose() {
  reduced_.reset();
  band_reduced_.reset();
  const Eigenpairs all = eigenpairs(a_);
  found_ = all.found;
  if (!found_) return;
  values_ = Eigen::VectorXd(scale_ * all.values.reverse());
  vectors_ = Eigen::MatrixXd(all.vectors.rowwise().reverse());
}

const Eigen::MatrixXd& LeadingPairs::vectors(Eigen::Index count) {
  count = std::min(count, values_.size());
  if (!found_ || count <= vectors_.cols()) return vectors_;
  const bool nearly_all = vectors_.cols() == 0 && 4 * count > 3 * a_.rows();
  if (nearly_all || !iterate(count)) decompose();
  return vectors_;
}

// Inverse iteration. Each vector is kept off all before it, so that those of a cluster, to whose span alone rounding lets an iteration converge,
// are orthonormal as well. A solution as long as the inverse of T's rounding has no residual but that.
bool LeadingPairs::iterate(Eigen::Index count) {
  const Eigen::Index n = a_.rows(), before = vectors_.cols();
  const Eigen::VectorXd &diagonal = diagonal_, &beside = beside_;
  double size = std::abs(diagonal(n - 1)) + std::abs(beside(n - 2));
  for (Eigen::Index i = 0; i + 1 < n; ++i)
    size = std::max(size, std::abs(diagonal(i)) + std::abs(beside(i)) + (i > 0 ? std::abs(beside(i - 1)) : 0));
  if (!(size > 0)) return false;
  const double enough = 1 / (16 * unit * size * std::sqrt(static_cast<double>(n)));
  tridiagonal_vectors_.conservativeResize(n, count);
  double shift = std::numeric_limits<double>::infinity();
  for (Eigen::Index j = before; j < count; ++j) {
    // equal values would repeat the same factors; a rounding apart they do not
    const double value = values_(j) / scale_;
    shift = std::min(value, shift - 4 * unit * size);
    const Shifted inverse(diagonal, beside, shift, size);
    const auto others = tridiagonal_vectors_.leftCols(j);
    Eigen::VectorXd x = Eigen::VectorXd::NullaryExpr(n, [&](Eigen::Index i) { return scattered(i + n * j); }).normalized();
    bool verified = false;
    for (int iteration = 0; iteration < most_iterations && !verified; ++iteration) {
      inverse.solve(x);
      const double length = x.stableNorm();
      if (!(length > 0) || !std::isfinite(length)) return false;
      x /= length;
      for (int twice = 0; twice < 2 && j > 0; ++twice) {
        x -= others * (others.transpose() * x);
        const double left = x.norm();
        if (!(left > 0)) return false;
        x /= left;
      }
      verified = length >= enough && iteration > 0 &&
                 (product(diagonal, beside, x) - value * x).norm() <= 16 * unit * size * std::sqrt(static_cast<double>(n));
    }
    if (!verified) return false;
    tridiagonal_vectors_.col(j) = x;
  }
  const auto fresh = tridiagonal_vectors_.rightCols(count - before);
  const Eigen::MatrixXd added = band_reduced_ ? band_reduced_->times(fresh) : Eigen::MatrixXd(reduced_->matrixQ() * fresh);
  vectors_.conservativeResize(n, count);
  vectors_.rightCols(count - before) = added;
  return true;
}

}  // namespace fd
