#include "solver/band_reduction.hpp"

#include <algorithm>
#include <cmath>

namespace fd {
namespace {

// The lower triangle, by columns: entry (i, j) at b(i - j, j). One diagonal more than the band has holds what is pushed out of it.
class Band {
 public:
  Band(const Eigen::MatrixXd& a, Eigen::Index band) : n_(a.rows()), band_(band), b_(Eigen::MatrixXd::Zero(band + 2, a.rows())) {
    for (Eigen::Index j = 0; j < n_; ++j)
      for (Eigen::Index i = j; i < std::min(n_, j + band + 1); ++i) at(i, j) = a(i, j);
  }
  double& at(Eigen::Index i, Eigen::Index j) { return b_(i - j, j); }

  // Rows and columns p and p + 1 become c x + s y and c y - s x.
  void rotate(Eigen::Index p, double c, double s) {
    const Eigen::Index q = p + 1;
    const auto both = [&](double& x, double& y) {
      const double before = x;
      x = c * before + s * y;
      y = c * y - s * before;
    };
    for (Eigen::Index k = std::max<Eigen::Index>(0, q - band_ - 1); k < p; ++k) both(at(p, k), at(q, k));
    for (Eigen::Index k = q + 1; k < std::min(n_, q + band_ + 1); ++k) both(at(k, p), at(k, q));
    const double x = at(p, p), y = at(q, q), z = at(q, p), cross = 2 * c * s * z;
    at(p, p) = c * c * x + cross + s * s * y;
    at(q, q) = s * s * x - cross + c * c * y;
    at(q, p) = c * s * (y - x) + (c * c - s * s) * z;
  }

 private:
  Eigen::Index n_, band_;
  Eigen::MatrixXd b_;
};

}  // namespace

BandReduction::BandReduction(const Eigen::MatrixXd& a, Eigen::Index band) {
  const Eigen::Index n = a.rows();
  Band b(a, band);
  if (band > 1) rotations_.reserve(static_cast<std::size_t>((band - 1) * (n * n / (2 * band) + n)));
  constexpr double nothing = 1e-150;  // above it squares do not underflow
  for (Eigen::Index j = 0; j + 2 < n; ++j)
    for (Eigen::Index r = std::min(band, n - 1 - j); r >= 2; --r)
      // entry (i, k) is turned into the one above it; that pushes out (i + band, i - 1), which is next
      for (Eigen::Index i = j + r, k = j; i < n; k = i - 1, i += band) {
        const double x = b.at(i - 1, k), y = b.at(i, k), length = std::sqrt(x * x + y * y);
        if (y == 0 || !(length > nothing)) break;
        b.rotate(i - 1, x / length, y / length);
        b.at(i, k) = 0;
        rotations_.push_back({i - 1, x / length, y / length});
      }
  diagonal_.resize(n);
  beside_.resize(std::max<Eigen::Index>(n - 1, 0));
  for (Eigen::Index j = 0; j < n; ++j) diagonal_(j) = b.at(j, j);
  for (Eigen::Index j = 0; j + 1 < n; ++j) beside_(j) = band > 0 ? b.at(j + 1, j) : 0;
}

// T = G_m ... G_1 A G_1^T ... G_m^T with G = [c s; -s c], so Q X = G_1^T ... G_m^T X.
Eigen::MatrixXd BandReduction::times(Eigen::MatrixXd x) const {
  for (auto g = rotations_.rbegin(); g != rotations_.rend(); ++g)
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      double &upper = x(g->first, c), &lower = x(g->first + 1, c);
      const double before = upper;
      upper = g->cosine * before - g->sine * lower;
      lower = g->sine * before + g->cosine * lower;
    }
  return x;
}

Eigen::Index bandwidth(const Eigen::MatrixXd& a) {
  Eigen::Index band = 0;
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    Eigen::Index i = a.rows() - 1;
    while (i > j + band && a(i, j) == 0) --i;
    band = std::max(band, i - j);
  }
  return band;
}

}  // namespace fd
