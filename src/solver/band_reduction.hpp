// A symmetric band matrix made tridiagonal by plane rotations (Rutishauser, Schwarz): T = Q^T A Q. What a rotation pushes out of the band is
// chased down and off the end, so the cost is some 6 n^2 multiplications for each diagonal of the band, where reflections of the whole matrix
// take 4/3 n^3.
//
// Guarantees: T and Q are exact to fp64 rounding. Q is kept as its rotations, of which there are n^2 / 2 or less. Does not know: eigenvalues.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace fd {

class BandReduction {
 public:
  // `band`: how far from the diagonal there are entries. They are about 1: those below 1e-150 count as zero.
  BandReduction(const Eigen::MatrixXd& a, Eigen::Index band);

  const Eigen::VectorXd& diagonal() const { return diagonal_; }
  const Eigen::VectorXd& beside() const { return beside_; }
  Eigen::MatrixXd times(Eigen::MatrixXd x) const;  // Q X

 private:
  struct Rotation {  // of axes `first` and first + 1
    Eigen::Index first;
    double cosine, sine;
  };
  Eigen::VectorXd diagonal_, beside_;
  std::vector<Rotation> rotations_;
};

// The largest distance from the diagonal of an entry that is not zero.
Eigen::Index bandwidth(const Eigen::MatrixXd& a);

}  // namespace fd
