// The growing basis of a solve, its image under the operator, and the projected problem: V, A V, V^T A V, and what Rayleigh and Ritz
// make of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "base/eigenpairs.hpp"
#include "device/space.hpp"
#include "operator/operator.hpp"
#include "solver/leading_pairs.hpp"
#include "solver/orthonormal.hpp"

namespace fd {

inline Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

template <int Columns>
void archive(Archive& archive, Eigen::Matrix<double, Eigen::Dynamic, Columns>& a) {
  std::vector<double> values(a.data(), a.data() + a.size());
  auto columns = static_cast<std::size_t>(a.cols());
  archive(columns, values);
  if (!archive.reading()) return;
  const Eigen::Index rows = columns > 0 ? index(values.size() / columns) : 0;
  if (index(values.size()) != rows * index(columns)) throw Error(Failure::input, "a matrix in it has no shape");
  a = Eigen::Map<const Eigen::MatrixXd>(values.data(), rows, index(columns));
}

class Basis {
 public:
  Basis(Space& space, Operator& a, Panel* locked, std::size_t most)
      : space_(space), a_(a), locked_(locked), v_(space.panel(a.layout(), most)), image_(space.panel(a.layout(), most)) {}

  std::size_t size() const { return size_; }
  std::size_t most() const { return v_->columns(); }
  std::size_t room() const { return most() - size_; }
  Columns vectors() { return {*v_, 0, size_}; }
  Columns images() { return {*image_, 0, size_}; }

  // A block of its own for a few fresh directions: what is done to them many times stays in cache, as windows of the basis, with its long rows,
  // would not.
  Columns beside(std::size_t count) {
    if (!beside_ || beside_->columns() != count) {
      beside_ = space_.panel(v_->layout(), count);
      beside_image_ = space_.panel(v_->layout(), count);
    }
    return *beside_;
  }

  // A window for fresh directions, behind the basis.
  Columns next(std::size_t count) { return {*v_, size_, std::min(count, room())}; }

  // What the whole space still holds beside the basis.
  std::size_t left() const { return a_.size() - (locked_ != nullptr ? locked_->columns() : 0) - size_; }

  // The fresh directions join: orthonormalised, applied, projected. The last `witnesses` of them stay a chain of their own. Lost
  // directions are replaced by random ones (never by noise) until there are `at_least`. Their images may be off by `permitted`.
  // Returns how many joined; where none did no pass was made: whatever is left of the space is out of this arithmetic's sight.
  // `chain`: they are the images of the directions that joined last, which A couples to these and to those before them alone. They are in a
  // window of next(), or beside().
  std::size_t grow(Columns fresh, std::size_t witnesses, std::size_t at_least, std::uint64_t seed, double permitted = 0,
                   bool chain = false) {
    std::vector<Columns> against = {vectors()};
    if (locked_ != nullptr) against.insert(against.begin(), Columns(*locked_));
    const std::size_t most = std::min(fresh.count, left());
    std::size_t rank = 0;
    const std::size_t near = std::min(size_, 2 * std::max(joined_, fresh.count));
    bool lost = false;
    a_.restrict(fresh);
    const auto join = [&](Columns some, std::size_t near) {
      if (some.count == 0 || rank == most) return std::size_t{0};
      auto all = against;
      all.push_back(fresh.part(0, rank));
      auto first = all;
      first[first.size() - 2] = vectors().part(size_ - near, near);
      std::size_t joined = orthonormalise(space_, first, all, some);
      joined = std::min(joined, most - rank);
      if (some.first != fresh.first + rank)  // close the gap that lost directions left
        space_.copy(some.part(0, joined), fresh.part(rank, joined));
      rank += joined;
      return joined;
    };
    join(fresh.part(0, fresh.count - witnesses), chain ? near : size_);
    witnesses_ = join(fresh.part(fresh.count - witnesses, witnesses), size_);
    for (int attempt = 0; rank < std::min(at_least, most) && attempt < 3; ++attempt) {
      const Columns refill = fresh.part(rank, std::min(at_least, most) - rank);
      space_.randomize(refill, seed, stream_);
      a_.restrict(refill);
      stream_ += refill.count;
      lost = true;
      if (join(refill, size_) > 0) witnesses_ = 0;
    }
    if (rank == 0) return 0;
    const bool apart = fresh.panel != v_.get();
    const Columns in = fresh.part(0, rank), image(*image_, size_, rank), out = apart ? Columns(*beside_image_, 0, rank) : image;
    const double error = a_.apply_low_precision(in, out, permitted);
    if (apart) {
      space_.copy(in, {*v_, size_, rank});
      space_.copy(out, image);
    }
    const std::size_t before = size_;
    // A chain is one as long as every block is all that the image of the one before it added: that image then lies in the basis, and couples to
    // nothing that joins later.
    chain_ = before == 0 ? witnesses == 0 : chain_ && chain && !lost && rank == fresh.count;
    // the coupling to the basis from the basis's own images: what the new ones are off by then meets their share in a Ritz vector only
    const std::size_t coupled = chain_ ? near : before;
    Eigen::MatrixXd coupling = Eigen::MatrixXd::Zero(index(before), index(rank));
    if (before > 0) coupling.bottomRows(index(coupled)) = space_.gram(images().part(before - coupled, coupled), in);
    const Eigen::MatrixXd corner = space_.gram(in, out);
    chain_ = chain_ && error == 0;
    size_ += rank;
    h_.conservativeResize(index(size_), index(size_));
    h_.topRightCorner(index(before), index(rank)) = coupling;
    h_.bottomLeftCorner(index(rank), index(before)) = coupling.transpose();
    h_.bottomRightCorner(index(rank), index(rank)) = symmetric(corner);
    error_.conservativeResize(index(size_));
    error_.tail(index(rank)).setConstant(error);
    if (familiar_.cols() > 0) familiar_.conservativeResizeLike(Eigen::MatrixXd::Zero(index(size_), familiar_.cols()));
    columns_ += rank;
    passes_ += 1;
    joined_ = rank;
    finite_ = finite_ && coupling.allFinite() && corner.allFinite();
    if (before > 0 && finite_) corner_ = Eigen::MatrixXd(symmetric(corner));
    return rank;
  }

  // False once an image held a NaN or an infinity, or the projected problem could not be solved: nothing here means anything then.
  bool finite() const { return finite_; }

  // The largest Rayleigh quotient among the directions that joined last; infinite before there were any beside the start.
  double latest() {
    if (corner_.size() > 0) {
      const Eigenpairs joined = eigenpairs(corner_);
      if (joined.found) latest_ = joined.values.maxCoeff();
      corner_ = Eigen::MatrixXd();
    }
    return latest_;
  }

  // Images of the directions that joined last: kept off the basis they are the next block of a Krylov space.
  Columns latest_images() { return images().part(size_ - joined_, joined_); }

  // Whether the basis is a Krylov space, from its first block on, with images that are exact. Then of all images only those of the last block
  // leave it, and the projected problem knows by itself how large residuals are: r^2 = y^T (F^T F - C^T C) y, where F is the last block's image, C
  // its coupling to the basis and y what a pair has of the block. An estimate: roundings of F are not in it.
  bool is_chain() const { return chain_; }
  std::vector<double> estimated_residuals(std::size_t pairs) {
    const auto last = index(joined_);
    const Columns image = latest_images();
    const Eigen::MatrixXd coupling = h_.rightCols(last);
    const Eigen::MatrixXd outside = space_.gram(image, image) - coupling.transpose() * coupling;
    const Eigen::MatrixXd& coordinates = pairs_.vectors(index(pairs));
    std::vector<double> residuals(pairs);
    for (std::size_t j = 0; j < pairs; ++j) {
      const Eigen::VectorXd share = coordinates.col(index(j)).tail(last);
      const double square = share.dot(outside * share);
      residuals[j] = square > 0 || !std::isfinite(square) ? std::sqrt(square) : 0;
    }
    return residuals;
  }

  // Vectors whose images are known become the basis: both are kept off the locked ones (which A leaves invariant, so the image of a
  // projection is the projection of the image) and both take every step of the orthonormalisation.
  void adopt(Columns start, Columns image) {
    Columns v(*v_, 0, start.count), av(*image_, 0, start.count);
    space_.copy(start, v);
    space_.copy(image, av);
    const auto both = [&](const Eigen::MatrixXd& s) {
      const auto rank = static_cast<std::size_t>(s.cols());
      if (rank > 0) {
        space_.combine(v, s, v.part(0, rank));
        space_.combine(av, s, av.part(0, rank));
      }
      v.count = av.count = rank;
    };
    Eigen::VectorXd length = space_.gram(v, v).diagonal().cwiseSqrt();
    for (auto& l : length) l = l > 0 && std::isfinite(l) ? 1 / l : 0;
    both(length.asDiagonal().toDenseMatrix());
    const double unit = traits(space_.precision()).wide_panels ? 1.1e-16 : 6e-8;
    for (const double least : {1e4 * unit, 0.25}) {  // nearly dependent ones are dropped: their images would be noise
      if (v.count == 0) return;
      if (locked_ != nullptr)
        for (const Columns& block : {v, av}) space_.combine(*locked_, -space_.gram(*locked_, block), block, true);
      both(whitening(space_.gram(v, v), least));
    }
    if (v.count == 0) return;
    chain_ = false;
    size_ = v.count;
    h_ = symmetric(space_.gram(v, av));
    finite_ = h_.allFinite();
    error_ = Eigen::VectorXd(Eigen::VectorXd::Zero(index(size_)));
    make_familiar(size_);
    passes_ = 1;
    columns_ = start.count;
  }

  // Images of the witnesses that joined last: where their chain goes on.
  Columns witness_images() { return images().part(size_ - witnesses_, witnesses_); }
  void end_chain() { witnesses_ = 0; }

  std::size_t passes() const { return passes_; }
  std::size_t columns() const { return columns_; }

  // All but the vectors and their images, of which only those up to size() count. Of the Ritz pairs only the values: they are those of a diagonal
  // matrix, or are made anew before a vector is read.
  void archive(Archive& archive) {
    Eigen::VectorXd values = pairs_.values();
    archive(size_, kept_, joined_, witnesses_, passes_, columns_, finite_, chain_, latest_, stream_, h_, corner_, error_,
            familiar_, values);
    if (!archive.reading()) return;
    if (size_ > most() || (familiar_.cols() > 0 && familiar_.rows() != index(size_)) || h_.rows() != index(size_) ||
        h_.cols() != index(size_) || error_.size() != index(size_))
      throw Error(Failure::input, "its basis is not one of this solve");
    pairs_ = LeadingPairs::of_diagonal(values);
  }
  void archive_vectors(Archive& archive) {
    space_.archive(archive, vectors());
    space_.archive(archive, images());
  }

  // Ritz pairs, largest first: those of the basis as it is now. What follows is about them.
  void rayleigh_ritz() {
    if (!finite_) return;
    pairs_ = LeadingPairs(h_);
    finite_ = pairs_.found();
  }
  const Eigen::VectorXd& values() const { return pairs_.values(); }

  // A V y - theta V y of the listed Ritz pairs, into as many columns.
  void residuals(const std::vector<std::size_t>& pairs, Columns out) {
    if (pairs.empty()) return;
    const Eigen::MatrixXd& coordinates = pairs_.vectors(index(*std::max_element(pairs.begin(), pairs.end()) + 1));
    Eigen::MatrixXd y(index(size_), index(pairs.size())), scaled = y;
    for (std::size_t c = 0; c < pairs.size(); ++c) {
      y.col(index(c)) = coordinates.col(index(pairs[c]));
      scaled.col(index(c)) = -values()(index(pairs[c])) * y.col(index(c));
    }
    space_.combine(images(), y, out);
    space_.combine(vectors(), scaled, out, true);
  }

  // What a Ritz vector has, squared, of a space F that was known before: |F^T V y|^2. F is the span of the first so many vectors of the basis, or of Ritz
  // vectors; it is kept as V^T F, to which vectors that join add nothing, being orthogonal to all of V.
  void make_familiar(std::size_t vectors) { familiar_ = Eigen::MatrixXd::Identity(index(size_), index(vectors)); }
  void make_pairs_familiar(std::size_t pairs) { familiar_ = pairs_.vectors(index(pairs)).leftCols(index(pairs)); }
  double familiar(std::size_t pair) {
    return (familiar_.transpose() * pairs_.vectors(index(pair + 1)).col(index(pair))).squaredNorm();
  }
  std::size_t familiar() const { return static_cast<std::size_t>(familiar_.cols()); }  // its dimension

  void ritz_vectors(Columns out) { space_.combine(vectors(), pairs_.vectors(index(out.count)).leftCols(index(out.count)), out); }

  // Thick restart: the leading Ritz vectors replace the basis.
  void keep(std::size_t count) {
    const Eigen::MatrixXd y = pairs_.vectors(index(count)).leftCols(index(count));
    space_.combine(vectors(), y, vectors().part(0, count));
    space_.combine(images(), y, images().part(0, count));
    Eigen::VectorXd doubts(index(count));
    for (std::size_t j = 0; j < count; ++j) doubts(index(j)) = doubt(j);
    error_ = std::move(doubts);
    if (familiar_.cols() > 0) familiar_ = Eigen::MatrixXd(y.transpose() * familiar_);
    size_ = count;
    h_ = values().head(index(count)).asDiagonal().toDenseMatrix();
    kept_ = count;
    chain_ = false;
    joined_ = witnesses_ = 0;
    pairs_ = LeadingPairs::of_diagonal(values().head(index(count)));
  }

  // What low-precision images may hide of a Ritz pair's residual, |sum_k y_k (A - A~) v_k|: the error of a block
  // of orthonormal directions meets the length of y; that of vectors kept from before a restart adds up.
  double doubt(std::size_t pair) {
    if ((error_.array() == 0).all()) return 0;
    const Eigen::ArrayXd share = pairs_.vectors(index(pair + 1)).col(index(pair)).array().abs() * error_.array();
    return share.head(index(kept_)).sum() + share.tail(share.size() - index(kept_)).matrix().norm();
  }

  // The leading Ritz vectors replace the basis, with images made anew.
  void refresh(std::size_t count) {
    keep(count);
    a_.apply(vectors(), images());
    h_ = symmetric(space_.gram(vectors(), images()));
    finite_ = finite_ && h_.allFinite();
    error_.setZero();
    passes_ += 1;
    columns_ += count;
  }

 private:
  static Eigen::MatrixXd symmetric(const Eigen::MatrixXd& a) {
    return 0.5 * (a + a.transpose());
  }  // rounding made it not quite so

  Space& space_;
  Operator& a_;
  Panel* locked_;
  std::unique_ptr<Panel> v_, image_, beside_, beside_image_;
  std::size_t size_ = 0, kept_ = 0, joined_ = 0, witnesses_ = 0, passes_ = 0, columns_ = 0;
  bool finite_ = true, chain_ = false;
  double latest_ = std::numeric_limits<double>::infinity();
  std::uint64_t stream_ = std::uint64_t{1} << 32;  // of random refills
  // Assigned as whole new matrices: Eigen gives back what a matrix held before it asks for what an expression needs, and where there
  // is no memory for that the old place would be given back twice.
  Eigen::MatrixXd familiar_;    // V^T F of a space F that was known before; no columns: none was
  Eigen::MatrixXd h_, corner_;  // corner_: that of the directions that joined last, until latest() has looked at it
  Eigen::VectorXd error_;       // what an image may be off by
  LeadingPairs pairs_;
};

}  // namespace fd
