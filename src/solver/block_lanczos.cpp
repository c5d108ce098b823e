#include "solver/block_lanczos.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "solver/orthonormal.hpp"
#include "solver/stopping.hpp"

namespace fd {
namespace {

using Index = Eigen::Index;

Index index(std::size_t i) { return static_cast<Index>(i); }

// The growing basis, its image, and the projected problem.
class Basis {
 public:
  Basis(Space& space, Operator& a, Panel* locked, std::size_t most)
      : space_(space), a_(a), locked_(locked), v_(space.panel(a.local_rows(), most)), image_(space.panel(a.local_rows(), most)) {}

  std::size_t size() const { return size_; }
  std::size_t most() const { return v_->columns(); }
  std::size_t room() const { return most() - size_; }
  Columns vectors() { return {*v_, 0, size_}; }
  Columns images() { return {*image_, 0, size_}; }

  // A window for fresh directions, behind the basis.
  Columns next(std::size_t count) { return {*v_, size_, std::min(count, room())}; }

  // What the whole space still holds beside the basis.
  std::size_t left() const { return a_.size() - (locked_ != nullptr ? locked_->columns() : 0) - size_; }

  // The fresh directions join: orthonormalised, applied, projected. The last `witnesses` of them stay a chain of their own. Lost
  // directions are replaced by random ones (never by noise) until there are `at_least`. Their images may be off by `permitted`.
  void grow(Columns fresh, std::size_t witnesses, std::size_t at_least, std::uint64_t seed, double permitted = 0) {
    std::vector<Columns> against = {vectors()};
    if (locked_ != nullptr) against.insert(against.begin(), Columns(*locked_));
    const std::size_t most = std::min(fresh.count, left());
    std::size_t rank = 0;
    const auto join = [&](Columns some) {
      if (some.count == 0 || rank == most) return std::size_t{0};
      auto all = against;
      all.push_back(fresh.part(0, rank));
      std::size_t joined = orthonormalise(space_, all, some);
      joined = std::min(joined, most - rank);
      if (some.first != fresh.first + rank)  // close the gap that lost directions left
        space_.combine(some.part(0, joined), Eigen::MatrixXd::Identity(index(joined), index(joined)), fresh.part(rank, joined));
      rank += joined;
      return joined;
    };
    join(fresh.part(0, fresh.count - witnesses));
    witnesses_ = join(fresh.part(fresh.count - witnesses, witnesses));
    for (int attempt = 0; rank < std::min(at_least, most) && attempt < 3; ++attempt) {
      const Columns refill = fresh.part(rank, std::min(at_least, most) - rank);
      space_.randomize(refill, seed, stream_);
      stream_ += refill.count;
      if (join(refill) > 0) witnesses_ = 0;
    }
    if (rank == 0) return;
    const Columns in = fresh.part(0, rank), out(*image_, size_, rank);
    const double error = permitted > 0 ? a_.apply_roughly(in, out, permitted) : (a_.apply(in, out), 0.0);
    const std::size_t before = size_;
    // the coupling to the basis from the basis's own images: what the new ones are off by then meets their share in a Ritz vector only
    const Eigen::MatrixXd coupling = space_.gram(images(), in), corner = space_.gram(in, out);
    size_ += rank;
    h_.conservativeResize(index(size_), index(size_));
    h_.topRightCorner(index(before), index(rank)) = coupling;
    h_.bottomLeftCorner(index(rank), index(before)) = coupling.transpose();
    h_.bottomRightCorner(index(rank), index(rank)) = 0.5 * (corner + corner.transpose());
    error_.conservativeResize(index(size_));
    error_.tail(index(rank)).setConstant(error);
    if (before > 0)
      latest_ = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(corner, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
    columns_ += rank;
    passes_ += 1;
  }

  // The largest Rayleigh quotient among the directions that joined last; infinite before there were any beside the start.
  double latest() const { return latest_; }

  // Vectors whose images are known become the basis: both are kept off the locked ones (which A leaves invariant, so the image of a
  // projection is the projection of the image) and both take every step of the orthonormalisation.
  void adopt(Columns start, Columns image) {
    const auto n = index(start.count);
    Columns v(*v_, 0, start.count), av(*image_, 0, start.count);
    space_.combine(start, Eigen::MatrixXd::Identity(n, n), v);
    space_.combine(image, Eigen::MatrixXd::Identity(n, n), av);
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
    size_ = v.count;
    const Eigen::MatrixXd h = space_.gram(v, av);
    h_ = 0.5 * (h + h.transpose());
    error_ = Eigen::VectorXd::Zero(index(size_));
    passes_ = 1;
    columns_ = start.count;
  }

  // Images of the witnesses that joined last: where their chain goes on.
  Columns witness_images() { return images().part(size_ - witnesses_, witnesses_); }

  std::size_t passes() const { return passes_; }
  std::size_t columns() const { return columns_; }

  // Ritz pairs, largest first.
  void rayleigh_ritz() {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> small(h_);
    values_ = small.eigenvalues().reverse();
    coordinates_ = small.eigenvectors().rowwise().reverse();
  }
  const Eigen::VectorXd& values() const { return values_; }

  // A V y - theta V y of the listed Ritz pairs, into as many columns.
  void residuals(const std::vector<std::size_t>& pairs, Columns out) {
    Eigen::MatrixXd y(index(size_), index(pairs.size())), scaled = y;
    for (std::size_t c = 0; c < pairs.size(); ++c) {
      y.col(index(c)) = coordinates_.col(index(pairs[c]));
      scaled.col(index(c)) = -values_(index(pairs[c])) * y.col(index(c));
    }
    space_.combine(images(), y, out);
    space_.combine(vectors(), scaled, out, true);
  }

  void ritz_vectors(Columns out) { space_.combine(vectors(), coordinates_.leftCols(index(out.count)), out); }

  // Thick restart: the leading Ritz vectors replace the basis.
  void keep(std::size_t count) {
    const Eigen::MatrixXd y = coordinates_.leftCols(index(count));
    space_.combine(vectors(), y, vectors().part(0, count));
    space_.combine(images(), y, images().part(0, count));
    size_ = count;
    h_ = values_.head(index(count)).asDiagonal().toDenseMatrix();
    Eigen::VectorXd doubts(index(count));
    for (std::size_t j = 0; j < count; ++j) doubts(index(j)) = doubt(j);
    error_ = doubts;
    kept_ = count;
    coordinates_ = Eigen::MatrixXd::Identity(index(count), index(count));
    values_.conservativeResize(index(count));
  }

  // What rough images may hide of a Ritz pair's residual, |sum_k y_k (A - A~) v_k|: the error of a block of orthonormal directions meets
  // the length of y; that of vectors kept from before a restart adds up.
  double doubt(std::size_t pair) const {
    const Eigen::ArrayXd share = coordinates_.col(index(pair)).array().abs() * error_.array();
    return share.head(index(kept_)).sum() + share.tail(share.size() - index(kept_)).matrix().norm();
  }

  // The leading Ritz vectors replace the basis, with images made anew.
  void refresh(std::size_t count) {
    keep(count);
    a_.apply(vectors(), images());
    const Eigen::MatrixXd h = space_.gram(vectors(), images());
    h_ = 0.5 * (h + h.transpose());
    error_.setZero();
    passes_ += 1;
    columns_ += count;
  }

 private:
  Space& space_;
  Operator& a_;
  Panel* locked_;
  std::unique_ptr<Panel> v_, image_;
  std::size_t size_ = 0, kept_ = 0, witnesses_ = 0, passes_ = 0, columns_ = 0;
  double latest_ = std::numeric_limits<double>::infinity();
  std::uint64_t stream_ = std::uint64_t{1} << 32;  // of random refills
  Eigen::MatrixXd h_, coordinates_;
  Eigen::VectorXd values_, error_;  // error_: what an image may be off by
};

// The iteration: measures, stops or grows.
class Iteration {
 public:
  Iteration(Space& space, Operator& a, const SolverOptions& options, Panel* locked)
      : space_(space), options_(options), basis_(space, a, locked, capacity(a, options, locked)) {
    modes_ = std::min(options.modes, basis_.left());
    residuals_.assign(modes_, std::numeric_limits<double>::infinity());
  }

  void start(Panel* vectors, Panel* image) {
    if (vectors != nullptr && image != nullptr && vectors->columns() < basis_.most()) {
      warm_ = true;
      basis_.adopt(*vectors, *image);
      if (basis_.size() > 0) return rayleigh_ritz();
    }
    const std::size_t given =
        vectors != nullptr ? std::min(vectors->columns(), basis_.most() - std::min(basis_.most(), options_.witnesses)) : 0;
    warm_ = given > 0;
    const std::size_t random = warm_ ? options_.witnesses : options_.block;
    const Columns fresh = basis_.next(given + random);
    if (warm_) {
      const auto n = index(given);
      space_.combine({*vectors, 0, given}, Eigen::MatrixXd::Identity(n, n), fresh.part(0, given));
    }
    space_.randomize(fresh.part(given, fresh.count - given), options_.seed, 0);
    basis_.grow(fresh, warm_ ? fresh.count - given : 0, std::min(fresh.count, options_.block), options_.seed);
    rayleigh_ritz();
  }

  SolverOutcome run() {
    for (;;) {
      if (basis_.values().size() > index(options_.ceiling_index) &&
          basis_.values()(index(options_.ceiling_index)) > options_.ceiling)
        return SolverOutcome::ceiling;
      if (basis_.room() < std::min(step_width() + options_.witnesses, basis_.left())) restart();
      std::vector<std::size_t> targets = measure();
      report();
      if (stops(targets)) return SolverOutcome::converged;
      if (in_doubt()) continue;
      if (at_floor()) return SolverOutcome::floor;
      if (basis_.passes() >= options_.most_passes) return SolverOutcome::exhausted;
      step(targets);
    }
  }

  Spectrum result(SolverOutcome outcome) {
    std::vector<std::size_t> all(modes_);
    for (std::size_t j = 0; j < modes_; ++j) all[j] = j;
    if (basis_.room() == 0 && basis_.left() > 0) restart();
    measure_pairs(all);
    Spectrum spectrum;
    spectrum.outcome = outcome;
    spectrum.passes = basis_.passes();
    spectrum.columns = basis_.columns();
    const std::size_t carried = std::min<std::size_t>(modes_ + options_.carry, basis_.size());
    spectrum.vectors = space_.panel(basis_.vectors().rows(), carried);
    basis_.ritz_vectors(*spectrum.vectors);
    spectrum.values = estimates_;
    for (std::size_t j = spectrum.values.size(); j < modes_; ++j) spectrum.values.push_back(basis_.values()(index(j)));
    spectrum.latest = basis_.latest();
    spectrum.residuals = residuals_;
    return spectrum;
  }

 private:
  static std::size_t capacity(const Operator& a, const SolverOptions& options, const Panel* locked) {
    const std::size_t whole = a.size() - (locked != nullptr ? locked->columns() : 0);
    // thick restart needs the wanted vectors and two blocks beside them; one more column to measure in
    const std::size_t least = options.modes + options.carry + 2 * (options.block + options.witnesses) + 1;
    return std::min(std::max(options.basis, least), whole + 1);
  }

  void rayleigh_ritz() {
    basis_.rayleigh_ritz();
    values_.push(basis_.values(), modes_);
  }

  // A warm start is accompanied by witnesses until they have seen enough; they are not needed to converge.
  std::size_t witnesses() { return warm_ && seen_enough() ? 0 : options_.witnesses; }
  bool seen_enough() {
    return basis_.passes() >= witness_passes(basis_.values(), modes_, static_cast<double>(basis_.vectors().rows()));
  }

  // From a random start every pass is a whole block; a good warm start needs only what has not converged. With the witnesses that is
  // a width the kernel takes whole: up to 4, or a number of eights.
  std::size_t step_width() {
    if (!warm_ || !narrow_) return options_.block;
    const std::size_t needed = std::max<std::size_t>(unconverged_, 1) + witnesses();
    const std::size_t whole = std::min(options_.block + 8, needed <= 4 ? needed : (needed + 7) / 8 * 8);
    return whole - std::min(whole - 1, witnesses());
  }

  // Half of the basis is kept, and never less than what is wanted and carried: a restart that keeps little forgets much.
  void restart() {
    const std::size_t reserve = options_.block + options_.witnesses + 1, most = basis_.most();
    const std::size_t wanted = std::max(modes_ + options_.carry, most / 2);
    basis_.keep(std::min({basis_.size(), wanted, most - std::min(most, reserve)}));
  }

  // What the images of the next directions may be off by: their share in a wanted vector is about its residual over the gap, and their
  // error meets the residual times that share. So little of the tolerance is for it that it hardly ever costs a pass.
  double permitted() const {
    const double worst = *std::max_element(residuals_.begin(), residuals_.end());
    if (options_.values_only || exact_ || basis_.size() < modes_ || !std::isfinite(worst) || !std::isfinite(basis_.latest()))
      return 0;
    return options_.tolerance / 64 * (basis_.values()(index(modes_ - 1)) - basis_.latest()) / worst;
  }

  // Where rough images might hide more of a residual than is left of the tolerance, they are made anew, and no more are made.
  bool in_doubt() {
    double largest = 0;
    for (std::size_t j = 0; j < std::min<std::size_t>(modes_, basis_.size()); ++j) largest = std::max(largest, basis_.doubt(j));
    if (largest <= 0.5 * options_.tolerance) return false;
    exact_ = true;
    known_ = 0;
    basis_.refresh(std::min<std::size_t>(modes_ + options_.carry, basis_.size()));
    rayleigh_ritz();
    return true;
  }

  void measure_pairs(const std::vector<std::size_t>& pairs) {
    for (std::size_t first = 0; first < pairs.size();) {
      const std::size_t count = std::min({pairs.size() - first, basis_.room(), std::size_t{64}});
      if (count == 0) {  // the basis is the whole space: residuals are rounding
        for (; first < pairs.size(); ++first) residuals_[pairs[first]] = 0;
        return;
      }
      const Columns out = basis_.next(count);
      basis_.residuals(
          {pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.begin() + static_cast<std::ptrdiff_t>(first + count)}, out);
      const Eigen::VectorXd squares = space_.gram(out, out).diagonal();
      for (std::size_t c = 0; c < count; ++c)
        residuals_[pairs[first + c]] = std::sqrt(std::max(0.0, squares(index(c)))) + basis_.doubt(pairs[first + c]);
      first += count;
    }
  }

  // Measures from the first pair not known to have converged, until a step's worth of others is found. The list of these; all of
  // the pairs are measured before it is empty.
  std::vector<std::size_t> measure() {
    std::vector<std::size_t> open;
    const std::size_t available = std::min<std::size_t>(modes_, basis_.size());
    for (std::size_t first = options_.values_only ? 0 : known_; first < available;) {
      std::vector<std::size_t> some;
      for (; first < available && some.size() < std::max<std::size_t>(options_.block, 16); ++first) some.push_back(first);
      measure_pairs(some);
      for (const std::size_t j : some)
        if (residuals_[j] > options_.tolerance) open.push_back(j);
      if (open.empty()) known_ = first;
      if (!options_.values_only && open.size() >= options_.block) break;
    }
    if (open.empty() && known_ == available && checked_ != basis_.passes()) {  // once more from the first
      checked_ = basis_.passes();
      known_ = 0;
      return measure();
    }
    for (std::size_t j = available; j < modes_; ++j) open.push_back(j);
    unconverged_ = open.size();
    return open;
  }

  void report() {
    double worst = 0;
    for (std::size_t j = 0; j < modes_; ++j)
      if (std::isfinite(residuals_[j])) worst = std::max(worst, residuals_[j]);
    worst_.push_back(worst);
    if (basis_.passes() == 1) narrow_ = worst < 0.2 * std::max(1e-300, std::abs(basis_.values()(0)));
    if (options_.progress) options_.progress({basis_.passes(), modes_ - std::min(unconverged_, modes_), worst});
  }

  bool stops(const std::vector<std::size_t>& targets) {
    if (basis_.left() == 0) return true;
    if (options_.values_only) return targets.empty() || know_values();
    if (!targets.empty()) return false;
    if (warm_ && !seen_enough()) return false;
    return !hides_copies();
  }

  bool know_values() {
    const double latest = std::isfinite(basis_.latest()) ? basis_.latest() : options_.latest;
    const auto known = values_.known(basis_.values(), residuals_, modes_, latest, options_.value_tolerance);
    if (known) estimates_ = *known;
    return known.has_value();
  }

  // A block of b random vectors finds at most b copies of a multiple eigenvalue. If that many were found, fresh random directions
  // look for more, until they find none.
  bool hides_copies() {
    const double close = traits(space_.precision()).wide_panels ? 1e-10 : 4e-6;
    if (modes_ < options_.block || basis_.size() < modes_) return false;
    const Eigen::VectorXd wanted = basis_.values().head(index(modes_));
    if (settled_.size() == wanted.size() && (settled_ - wanted).cwiseAbs().maxCoeff() <= std::max(close, options_.tolerance))
      return false;
    if (largest_cluster(wanted, close * std::max(1.0, std::abs(wanted(0)))) < options_.block) return false;
    settled_ = wanted;
    fresh_start_ = true;
    return true;
  }

  bool at_floor() const {
    const std::size_t look = 5, n = worst_.size();
    return options_.floor > 0 && n > look && worst_[n - 1] < 30 * options_.floor && worst_[n - 1] > 0.7 * worst_[n - 1 - look];
  }

  void step(std::vector<std::size_t> targets) {
    const std::size_t width = std::min(step_width(), basis_.room());
    if (fresh_start_) {
      fresh_start_ = false;
      const Columns fresh = basis_.next(width);
      space_.randomize(fresh, options_.seed, 100 * basis_.passes());
      basis_.grow(fresh, 0, width, options_.seed);
      return rayleigh_ritz();
    }
    if (targets.size() > width) targets.resize(width);
    for (std::size_t j = modes_; targets.size() < width && j < basis_.size(); ++j) targets.push_back(j);
    std::erase_if(targets, [&](std::size_t j) { return j >= basis_.size(); });
    // witnesses go on from their images; after an adopted start they begin here
    const Columns chain = warm_ ? basis_.witness_images() : Columns(basis_.vectors().part(0, 0));
    const bool begins = warm_ && chain.count == 0;
    const std::size_t witnesses = std::min(
        {begins ? options_.witnesses : chain.count, this->witnesses(), basis_.room() - std::min(basis_.room(), targets.size())});
    const Columns fresh = basis_.next(targets.size() + witnesses);
    basis_.residuals(targets, fresh.part(0, targets.size()));
    if (begins) {
      space_.randomize(fresh.part(targets.size(), witnesses), options_.seed, 7);
    } else if (witnesses > 0) {
      const auto n = index(witnesses);
      space_.combine(chain.part(0, witnesses), Eigen::MatrixXd::Identity(n, n), fresh.part(targets.size(), witnesses));
    }
    basis_.grow(fresh, witnesses, warm_ ? std::size_t{1} : std::min<std::size_t>(4, fresh.count), options_.seed, permitted());
    rayleigh_ritz();
  }

  Space& space_;
  const SolverOptions& options_;
  Basis basis_;
  std::size_t modes_ = 0;
  std::vector<double> estimates_;
  bool warm_ = false, narrow_ = true, fresh_start_ = false, exact_ = false;
  std::size_t known_ = 0, unconverged_ = 0, checked_ = 0;
  std::vector<double> residuals_, worst_;
  ValueHistory values_;
  Eigen::VectorXd settled_;
};

}  // namespace

std::string_view name(SolverOutcome outcome) {
  switch (outcome) {
    case SolverOutcome::converged: return "converged";
    case SolverOutcome::exhausted: return "passes exhausted";
    case SolverOutcome::floor: return "at the arithmetic floor";
    case SolverOutcome::ceiling: return "ceiling passed";
  }
  return "unknown";
}

Spectrum block_lanczos(Space& space, Operator& a, const SolverOptions& options, Panel* locked, Panel* start, Panel* image) {
  Iteration iteration(space, a, options, locked);
  iteration.start(start, image);
  return iteration.result(iteration.run());
}

}  // namespace fd
