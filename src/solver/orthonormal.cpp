#include "solver/orthonormal.hpp"

#include <cmath>
#include <utility>

#include "base/eigenpairs.hpp"

namespace fd {
namespace {

void scale_to_unit_length(Space& space, Columns fresh) {
  Eigen::VectorXd scale = space.gram(fresh, fresh).diagonal();
  for (auto& s : scale) s = s > 0 && std::isfinite(s) ? 1 / std::sqrt(s) : 0;
  space.combine(fresh, scale.asDiagonal().toDenseMatrix(), fresh);
}

void project_out(Space& space, const std::vector<Columns>& against, Columns fresh) {
  for (const Columns& block : against)
    if (block.count > 0) space.combine(block, -space.gram(block, fresh), fresh, true);
}

// The columns become F U L^-1/2; axes with L <= least are dropped.
std::size_t whiten(Space& space, Columns fresh, double least) {
  const Eigen::MatrixXd s = whitening(space.gram(fresh, fresh), least);
  const auto rank = static_cast<std::size_t>(s.cols());
  if (rank > 0) space.combine(fresh, s, fresh.part(0, rank));
  return rank;
}

}  // namespace

Eigen::MatrixXd whitening(const Eigen::MatrixXd& gram, double least) {
  const Eigenpairs axes = eigenpairs(gram);
  if (!axes.found) return Eigen::MatrixXd(gram.rows(), 0);
  const Eigen::Index n = axes.values.size();
  Eigen::Index rank = 0;
  while (rank < n && axes.values(n - 1 - rank) > least) ++rank;
  const Eigen::MatrixXd s = axes.vectors.rightCols(rank) * axes.values.tail(rank).cwiseSqrt().cwiseInverse().asDiagonal();
  return s.rowwise().reverse();
}

std::size_t orthonormalise(Space& space, const std::vector<Columns>& against, Columns fresh) {
  return orthonormalise(space, against, against, fresh);
}

std::size_t orthonormalise(Space& space, const std::vector<Columns>& first, const std::vector<Columns>& against, Columns fresh) {
  const double unit = traits(space.precision()).wide_panels ? 1.1e-16 : 6e-8;
  scale_to_unit_length(space, fresh);
  // What projection leaves of a unit vector below 100 roundings is rounding noise. The second round removes what the first one's
  // scaling blew up; an axis that it shortens by half again was noise after all.
  std::size_t rank = fresh.count;
  for (const auto& [others, least] : {std::pair(&first, 1e4 * unit * unit), std::pair(&against, 0.25)}) {
    if (rank == 0) break;
    project_out(space, *others, fresh.part(0, rank));
    rank = whiten(space, fresh.part(0, rank), least);
  }
  return rank;
}

}  // namespace fd
