#include "solver/block_lanczos.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include <flashdiffusion/error.hpp>

#include "base/archive.hpp"
#include "base/worst.hpp"
#include "solver/basis.hpp"
#include "solver/stopping.hpp"

namespace fd {
namespace {

// The iteration: measures, stops or grows. It ends: a step either makes a pass, which are counted, or finds nothing to join the basis.
class Iteration {
 public:
  Iteration(Space& space, Operator& a, const SolverOptions& options, Panel* locked)
      : space_(space),
        operator_(a),
        options_(options),
        basis_(space, a, locked, capacity(a, options, locked)),
        values_(options.floor) {
    modes_ = std::min(options.modes, basis_.left());
    residuals_.assign(modes_, std::numeric_limits<double>::infinity());
  }

  void start(Panel* vectors, Panel* image) {
    if (vectors != nullptr && image != nullptr && vectors->columns() < basis_.most()) {
      warm_ = true;
      riding_ = options_.witnesses;
      basis_.adopt(*vectors, *image);
      grown_ = basis_.size() > 0;
      if (grown_) return;
    }
    const std::size_t given =
        vectors != nullptr ? std::min(vectors->columns(), basis_.most() - std::min(basis_.most(), options_.witnesses)) : 0;
    warm_ = given > 0;
    riding_ = warm_ ? options_.witnesses : 0;
    const std::size_t random = warm_ ? riding_ : options_.block;
    const Columns fresh = basis_.next(given + random);
    if (warm_) space_.copy({*vectors, 0, given}, fresh.part(0, given));
    space_.randomize(fresh.part(given, fresh.count - given), options_.seed, 0);
    basis_.grow(fresh, warm_ ? fresh.count - given : 0, std::min(fresh.count, options_.block), options_.seed);
    if (warm_ && fresh.count > given) ++heard_;
    if (warm_) basis_.make_familiar(basis_.size() - std::min(basis_.size(), fresh.count - given));
    due_ = passes_until_wanted();
    grown_ = true;
  }

  void resume(Archive& state) {
    archive(state);
    basis_.archive_vectors(state);
    if (options_.keeper != nullptr) options_.keeper->resumed();
  }

  SolverOutcome run() {
    if (options_.keeper == nullptr) return iterate();
    try {
      return iterate();
    } catch (const Error& error) {
      if (error.kind() == Failure::interrupted) keep();
      throw;
    }
  }

  Spectrum result(SolverOutcome outcome) {
    Spectrum spectrum;
    spectrum.outcome = outcome;
    spectrum.passes = basis_.passes();
    spectrum.columns = basis_.columns();
    if (outcome == SolverOutcome::not_finite) return spectrum;
    if (basis_.room() == 0) restart();
    std::vector<std::size_t> all(available());
    for (std::size_t j = 0; j < all.size(); ++j) all[j] = j;
    measure_pairs(all);
    const std::size_t carried = std::min<std::size_t>(modes_ + options_.carry, basis_.size());
    spectrum.vectors = space_.panel(basis_.vectors().panel->layout(), carried);
    basis_.ritz_vectors(*spectrum.vectors);
    spectrum.values = estimates_;
    for (std::size_t j = spectrum.values.size(); j < all.size(); ++j) spectrum.values.push_back(basis_.values()(index(j)));
    spectrum.latest = basis_.latest();
    residuals_.resize(all.size());
    spectrum.residuals = residuals_;
    return spectrum;
  }

 private:
  SolverOutcome iterate() {
    for (;;) {
      remember();
      if (grown_) rayleigh_ritz();
      if (follow_chain()) continue;
      if (behind_) rayleigh_ritz();
      if (!basis_.finite()) return SolverOutcome::not_finite;
      if (basis_.values().size() > index(options_.ceiling_index) &&
          basis_.values()(index(options_.ceiling_index)) > options_.ceiling)
        return SolverOutcome::ceiling;
      if (!restarted_ && basis_.room() < std::min(step_width() + std::max(options_.witnesses, riding_), basis_.left())) {
        restart();
        restarted_ = true;
        continue;
      }
      restarted_ = false;
      std::vector<std::size_t> targets = measure();
      report();
      if (stops(targets)) return SolverOutcome::converged;
      if (basis_.passes() < options_.most_passes && in_doubt()) continue;
      if (basis_.left() == 0) return targets.empty() ? SolverOutcome::converged : SolverOutcome::floor;
      if (!targets.empty() && at_floor()) return SolverOutcome::floor;  // with none, witnesses are on their way
      if (basis_.passes() >= options_.most_passes) return SolverOutcome::exhausted;
      if (basis_.is_chain() && follow_chain()) continue;
      if (!step(targets)) return targets.empty() ? SolverOutcome::converged : SolverOutcome::floor;
    }
  }

  static std::size_t capacity(const Operator& a, const SolverOptions& options, const Panel* locked) {
    const std::size_t whole = a.size() - (locked != nullptr ? locked->columns() : 0);
    // thick restart needs the wanted vectors and two blocks beside them; one more column to measure in
    const std::size_t least = options.modes + options.carry + 2 * (options.block + options.witnesses) + 1;
    return std::min(std::max(options.basis, least), whole + 1);
  }

  // The small part of the state at the head of the loop. A pass leaves the vectors and images that the basis had there as they were; what
  // changes them is followed by another look, and says so before.
  void remember() {
    if (options_.keeper == nullptr) return;
    remembered_ = archived([this](Archive& a) { archive(a); });
    if (options_.keeper->due()) keep();
  }
  void keep() {
    if (remembered_.empty()) return;
    options_.keeper->keep([this](Archive& a) {
      a.bytes(remembered_.data(), remembered_.size());
      basis_.archive_vectors(a);
    });
  }
  void forget() { remembered_.clear(); }

  void archive(Archive& a) {
    operator_.archive_progress(a);
    basis_.archive(a);
    values_.archive(a);
    a(modes_, estimates_, warm_, narrow_, exact_, known_, unconverged_, checked_, riding_, late_, heard_, due_, behind_, grown_,
      restarted_, measured_.passes, measured_.worst, witness_stream_, residuals_, worst_, first_, first_worst_);
  }

  void rayleigh_ritz() {
    behind_ = grown_ = false;
    basis_.rayleigh_ritz();
    if (basis_.finite()) values_.push(basis_.values(), modes_);
  }

  // Wanted pairs that the basis has: all of them, once it has grown to that size.
  std::size_t available() const { return std::min(modes_, basis_.size()); }

  // A warm start is accompanied by witnesses until they have seen enough; they are not needed to converge. Where there is time they come a
  // pass late: the first pass has to be exact, and an operator that wants to check something of its own has room for it there.
  std::size_t witnesses() { return seen_enough() || basis_.passes() <= late_ ? 0 : riding_; }
  bool seen_enough() {
    const std::size_t most = riding_ == called() ? 8 : 3;  // more where there is reason to believe that something is hidden
    return riding_ == 0 || heard_ >= witness_passes(basis_.values(), modes_, static_cast<double>(basis_.vectors().rows()), most);
  }

  // From a random start the residuals of Ritz pairs span what the image of the last block adds to the basis: Krylov's next block, which can be
  // had without them. So pairs are made and measured only when that is due. False where no pass was made.
  bool follow_chain() {
    if (!basis_.finite() || warm_ || riding_ > 0 || options_.values_only || basis_.passes() >= options_.most_passes) return false;
    if (basis_.passes() >= due_ && !estimated_far()) return false;
    const Columns chain = basis_.latest_images();
    if (chain.count == 0 || chain.count > std::min(options_.block, basis_.left())) return false;
    if (basis_.room() < chain.count + options_.block + options_.witnesses) return false;
    const Columns fresh = basis_.beside(chain.count);
    space_.copy(chain, fresh);
    behind_ = true;
    return basis_.grow(fresh, 0, std::min<std::size_t>(4, fresh.count), options_.seed, permitted(), true) > 0;
  }

  // Whether by the projected problem's own estimates there is a way to go: then nothing is measured yet.
  bool estimated_far() {
    if (!basis_.is_chain() || basis_.size() < modes_) return false;
    if (behind_) rayleigh_ritz();
    if (!basis_.finite() || basis_.size() <= options_.ceiling_index ||
        basis_.values()(index(options_.ceiling_index)) > options_.ceiling)
      return false;
    residuals_ = basis_.estimated_residuals(modes_);
    double worst = 0;
    std::size_t converged = 0;
    for (const double residual : residuals_) {
      worst = worse(worst, residual);
      if (residual <= options_.tolerance) ++converged;
    }
    if (!(worst > options_.tolerance)) return false;
    due_ = basis_.passes() + passes_until_due(worst);
    if (options_.progress) options_.progress({basis_.passes(), converged, worst});
    return true;
  }

  // How many passes until pairs are made and looked at again. With T passes left, each of cost P, and R for the pairs of a basis of n, one in s is
  // best for s = sqrt(2 T R / P): an overshoot of s/2 passes against T/s looks. R / P is taken as some n^3 / N^2, as for a dense operator, or n^2 / N^2
  // for a chain, whose projected problem is a band; and nothing is due before there are as many vectors as are wanted, or long after the
  // residuals, falling as they do, will be small enough.
  std::size_t passes_until_due(double worst) {
    const double most = basis_.is_chain() ? 32 : 8;
    const auto n = static_cast<double>(basis_.size() + options_.block), rows = static_cast<double>(basis_.vectors().rows());
    const double left = basis_.is_chain() ? 4 * static_cast<double>(basis_.passes()) : n;
    double apart = std::clamp(std::floor(10 * n * std::sqrt(left) / rows), 1.0, most);
    if (measured_.worst > worst && worst > options_.tolerance && basis_.passes() > measured_.passes) {
      const double rate = std::log(measured_.worst / worst) / static_cast<double>(basis_.passes() - measured_.passes);
      apart = std::min(apart, std::max(1.0, std::ceil(std::log(worst / options_.tolerance) / rate)));
    }
    measured_ = {basis_.passes(), worst};
    return std::max(static_cast<std::size_t>(apart), passes_until_wanted());
  }
  std::size_t passes_until_wanted() const {
    const std::size_t wanted = modes_ + options_.block, missing = wanted - std::min(wanted, basis_.size());
    return (missing + options_.block - 1) / options_.block;
  }

  // From a random start every pass is a whole block; a good warm start needs only what has not converged. With the witnesses that is
  // a width the kernel takes whole: up to 4, or a multiple of 8.
  std::size_t step_width() {
    if (!warm_ || !narrow_) return options_.block;
    const std::size_t needed = std::max<std::size_t>(unconverged_, 1) + witnesses();
    const std::size_t whole = std::min(options_.block + 8, needed <= 4 ? needed : (needed + 7) / 8 * 8);
    return whole - std::min(whole - 1, witnesses());
  }

  // Half of the basis is kept, and never less than what is wanted and carried: a restart that keeps little forgets much.
  void restart() {
    forget();
    const std::size_t reserve = options_.block + std::max(options_.witnesses, riding_) + 1, most = basis_.most();
    const std::size_t wanted = std::max(modes_ + options_.carry, most / 2);
    basis_.keep(std::min({basis_.size(), wanted, most - std::min(most, reserve)}));
  }

  // What the images of the next directions may be off by: their share in a wanted vector is about its residual over the gap, and their
  // error meets the residual times that share. A sixteenth of the tolerance is for it, which rarely costs a pass: a pass divides residuals
  // by three or so.
  double permitted() {
    double worst = 0;
    for (const double residual : residuals_) worst = worse(worst, residual);
    if (options_.values_only || exact_ || basis_.size() < modes_ || !std::isfinite(worst) || !std::isfinite(basis_.latest()))
      return 0;
    return options_.tolerance / 16 * (basis_.values()(index(modes_ - 1)) - basis_.latest()) / worst;
  }

  // Where low-precision images might hide more of a residual than is left of the tolerance, they are made anew, and no more are made.
  bool in_doubt() {
    double largest = 0;
    for (std::size_t j = 0; j < available(); ++j) largest = worse(largest, basis_.doubt(j));
    if (largest <= 0.5 * options_.tolerance) return false;
    exact_ = true;
    known_ = 0;
    forget();
    basis_.refresh(std::min<std::size_t>(modes_ + options_.carry, basis_.size()));
    grown_ = true;
    return true;
  }

  void measure_pairs(const std::vector<std::size_t>& pairs) {
    for (std::size_t first = 0; first < pairs.size();) {
      const std::size_t count = std::min({pairs.size() - first, basis_.room(), std::size_t{64}});
      if (count == 0) {  // nowhere to measure in: nothing is known of them
        for (; first < pairs.size(); ++first) residuals_[pairs[first]] = std::numeric_limits<double>::infinity();
        return;
      }
      const Columns out = basis_.next(count);
      basis_.residuals(
          {pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.begin() + static_cast<std::ptrdiff_t>(first + count)}, out);
      const Eigen::VectorXd squares = space_.gram(out, out).diagonal();
      for (std::size_t c = 0; c < count; ++c)
        residuals_[pairs[first + c]] = root(squares(index(c))) + basis_.doubt(pairs[first + c]);
      first += count;
    }
  }

  // Measures from the first pair not known to have converged, until a step's worth of others is found. The list of these; all of
  // the pairs are measured before it is empty.
  std::vector<std::size_t> measure() {
    std::vector<std::size_t> open;
    const std::size_t available = this->available();
    for (std::size_t first = options_.values_only ? 0 : known_; first < available;) {
      std::vector<std::size_t> some;
      for (; first < available && some.size() < std::max<std::size_t>(options_.block, 16); ++first) some.push_back(first);
      measure_pairs(some);
      for (const std::size_t j : some)
        if (!(residuals_[j] <= options_.tolerance)) open.push_back(j);
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
    due_ = basis_.passes() + passes_until_due(worst);
    if (basis_.passes() == 1) {
      constexpr double a_long_way = 1000;  // some five passes
      narrow_ = worst < 0.2 * std::max(1e-300, std::abs(basis_.values()(0)));
      late_ = heard_ == 0 && narrow_ && !options_.values_only && worst > a_long_way * options_.tolerance ? 1 : 0;
    }
    if (!options_.values_only && surprised(worst)) call_witnesses(worst);
    if (options_.progress) options_.progress({basis_.passes(), modes_ - std::min(unconverged_, modes_), worst});
  }

  bool stops(const std::vector<std::size_t>& targets) {
    if (targets.empty() && basis_.left() == 0) return true;
    if (options_.values_only) return targets.empty() || know_values();
    if (!targets.empty() || proves_nothing()) return false;
    if (!seen_enough()) return false;
    if (!crowded() && !found_by_witnesses()) return true;
    call_witnesses(worst_.back());
    return false;
  }

  // A pair that a start held nothing of was found by a witness, which finds one direction of each eigenspace: there may be more. A start that was no
  // good is as good as a random one if it held a share of all.
  bool found_by_witnesses() {
    if (basis_.familiar() == 0 || basis_.size() < modes_) return false;
    const double share = static_cast<double>(basis_.familiar()) / static_cast<double>(basis_.vectors().rows());
    const double hardly = narrow_ ? 0.1 : 0.1 * share;
    for (std::size_t j = 0; j < modes_; ++j)
      if (basis_.familiar(j) < hardly) return true;
    return false;
  }

  // Where a wanted value is hardly larger than the tolerance, any vector whatever may have a residual below it: only a Krylov space of some
  // depth tells that there is nothing larger.
  bool proves_nothing() {
    constexpr std::size_t deep = 4;
    return basis_.passes() < deep && basis_.size() >= modes_ && basis_.values()(index(modes_ - 1)) < 10 * options_.tolerance;
  }

  bool know_values() {
    const double latest = std::isfinite(basis_.latest()) ? basis_.latest() : options_.latest;
    const auto known = values_.known(basis_.values(), residuals_, modes_, latest, options_.value_tolerance, options_.ceiling);
    if (known) estimates_ = *known;
    return known.has_value();
  }

  // A single witness of a warm start finds one direction that the start held nothing of, where there may be several. It did find one if a
  // value has risen by more than the residuals allowed.
  bool surprised(double worst) {
    if (!warm_ || basis_.size() < modes_) return false;
    const Eigen::VectorXd wanted = basis_.values().head(index(modes_));
    if (first_.size() < wanted.size()) {
      first_ = Eigen::VectorXd(wanted);
      first_worst_ = worst;
    }
    return narrow_ && (wanted - first_).maxCoeff() > std::max(same_value(), 2 * first_worst_);
  }

  // A block of b random vectors finds at most b copies of a multiple eigenvalue, and few passes tell copies from neighbours: nearly that
  // many wanted values that lie together may hide another.
  bool crowded() {
    if (basis_.size() < modes_ || modes_ < options_.block) return false;
    const Eigen::VectorXd wanted = basis_.values().head(index(modes_));
    if (first_.size() == wanted.size() && riding_ == called() && (first_ - wanted).cwiseAbs().maxCoeff() <= same_value())
      return false;
    const double together =
        std::max(same_value() * std::max(1.0, std::abs(wanted(0))), 1e-3 * (wanted(0) - wanted(index(modes_ - 1))));
    return 4 * largest_cluster(wanted, together) >= 3 * options_.block;
  }

  double same_value() const { return std::max(options_.tolerance, traits(space_.precision()).wide_panels ? 1e-10 : 4e-6); }

  // There may be more: a block of fresh witnesses looks, again and again until they find nothing.
  std::size_t called() const { return std::max<std::size_t>(options_.block, 4); }
  void call_witnesses(double worst) {
    first_ = Eigen::VectorXd(basis_.values().head(index(modes_)));
    first_worst_ = worst;
    worst_.assign(1, worst);  // what they find is not at the floor yet
    basis_.make_pairs_familiar(std::min(modes_, basis_.size()));
    riding_ = called();
    heard_ = 0;
    late_ = 0;
    basis_.end_chain();
  }

  bool at_floor() const {
    const std::size_t look = 5, n = worst_.size();
    return options_.floor > 0 && n > look && worst_[n - 1] < 30 * options_.floor && worst_[n - 1] > 0.7 * worst_[n - 1 - look];
  }

  // The basis grows along the residuals of the targets, or, where all pairs it has have converged and more are wanted, along random
  // directions. False where nothing joined it.
  bool step(std::vector<std::size_t> targets) {
    const std::size_t width = std::min(step_width(), basis_.room());
    std::erase_if(targets, [&](std::size_t j) { return j >= basis_.size(); });
    if (targets.empty() && basis_.size() <= modes_) {
      const Columns fresh = basis_.next(width);
      space_.randomize(fresh, options_.seed, 100 * basis_.passes());
      return joined(basis_.grow(fresh, 0, width, options_.seed));
    }
    if (targets.size() > width) targets.resize(width);
    const std::size_t filled = riding_ < called() ? width : 0;  // a block of witnesses fills a pass by itself
    for (std::size_t j = modes_; targets.size() < filled && j < basis_.size(); ++j) targets.push_back(j);
    // witnesses go on from their images; after an adopted start they begin here
    const Columns chain = basis_.witness_images();
    const bool begins = chain.count == 0;
    const std::size_t witnesses =
        std::min({begins ? riding_ : chain.count, this->witnesses(), basis_.room() - std::min(basis_.room(), targets.size())});
    const Columns fresh = basis_.next(targets.size() + witnesses);
    basis_.residuals(targets, fresh.part(0, targets.size()));
    if (begins) {
      space_.randomize(fresh.part(targets.size(), witnesses), options_.seed, witness_stream_);
      witness_stream_ += witnesses;
    } else if (witnesses > 0) {
      space_.copy(chain.part(0, witnesses), fresh.part(targets.size(), witnesses));
    }
    if (witnesses > 0) ++heard_;
    const std::size_t least = warm_ ? std::size_t{1} : std::min<std::size_t>(4, fresh.count);
    return joined(basis_.grow(fresh, witnesses, least, options_.seed, permitted()));
  }

  bool joined(std::size_t directions) {
    if (directions > 0) grown_ = true;
    else rayleigh_ritz();
    return directions > 0;
  }

  Space& space_;
  Operator& operator_;
  const SolverOptions& options_;
  Basis basis_;
  std::size_t modes_ = 0;
  std::vector<double> estimates_;
  bool warm_ = false, narrow_ = true, exact_ = false;
  std::size_t known_ = 0, unconverged_ = 0, checked_ = 0;
  std::size_t riding_ = 0;            // witnesses that ride along until they have seen enough
  std::size_t late_ = 0, heard_ = 0;  // passes before they come, and with them
  std::size_t due_ = 0;               // passes after which pairs are made and measured again
  bool behind_ = false;               // the basis has grown since
  bool grown_ = false;                // it has, and pairs are made before anything else
  bool restarted_ = false;            // at the head of this loop
  struct {
    std::size_t passes = 0;
    double worst = 0;
  } measured_;
  std::uint64_t witness_stream_ = 7;  // of their random numbers
  std::vector<double> residuals_, worst_;
  ValueHistory values_;
  Eigen::VectorXd first_;  // wanted values, and the largest of their residuals, when witnesses were last called
  double first_worst_ = 0;
  std::vector<char> remembered_;  // empty: no state that can be gone on from
};

}  // namespace

std::string_view name(SolverOutcome outcome) {
  switch (outcome) {
    case SolverOutcome::converged: return "converged";
    case SolverOutcome::exhausted: return "passes exhausted";
    case SolverOutcome::floor: return "at the arithmetic floor";
    case SolverOutcome::ceiling: return "ceiling passed";
    case SolverOutcome::not_finite: return "not finite";
  }
  return "unknown";
}

Spectrum block_lanczos(Space& space, Operator& a, const SolverOptions& options, Panel* locked, Panel* start, Panel* image) {
  Iteration iteration(space, a, options, locked);
  iteration.start(start, image);
  return iteration.result(iteration.run());
}

Spectrum resume_block_lanczos(Space& space, Operator& a, const SolverOptions& options, Panel* locked, Archive& state) {
  Iteration iteration(space, a, options, locked);
  iteration.resume(state);
  return iteration.result(iteration.run());
}

}  // namespace fd
