#include "reproduce/alanine_claims.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "base/worst.hpp"
#include "reproduce/alanine_paper.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

bool within_factor(double paper, double ours, double factor) { return ours <= factor * paper && paper <= factor * ours; }

// A number of the paper's, ours, and the factor that may lie between them.
Comparison by_factor(std::string claim, const char* name, double ours, double factor, std::string rule, std::string why = {}) {
  if (std::isnan(ours)) why = "ours is not a number";
  return stated(std::move(claim), place(name), paper_of(name), ours, within_factor(paper_of(name), ours, factor), std::move(rule),
                std::move(why));
}

// Where the flow ended and why that is not the paper's bandwidth, by the potential it follows.
std::string reason_of(const Model& flow, Chosen chosen) {
  const Probe *end = accepted(flow), *near = nullptr;
  const double paper = paper_of("beta");
  for (const Probe& p : flow.sweep)
    if (end != nullptr && p.n == end->n && std::isfinite(p.v) && within_factor(p.beta, paper, std::numbers::sqrt2) &&
        (near == nullptr || std::abs(std::log(p.beta / paper)) < std::abs(std::log(near->beta / paper))))
      near = &p;
  if (near == nullptr || near->beta == end->beta || near->v <= end->v) return flow.outcome;
  return fmt::format("the potential is {:.3g} at β = {:.4g} and {:.3g} at {:.4g}: it falls past the paper's bandwidth. {}",
                     near->v, near->beta, end->v, end->beta,
                     chosen == Chosen::flow
                         ? "The rule as printed returns the vertex of a bracket, or the last safe probe where the wall comes "
                           "first; 276.4 is neither in the paper's own sweep, but the octave below its last safe probe, 552.8"
                         : flow.outcome);
}

double octaves_from_first(const Model& model, const Probe& probe) { return std::log2(probe.beta / model.sweep.front().beta); }

bool on_octave(const Model& model, const Probe& probe) {
  const double octaves = octaves_from_first(model, probe);
  return std::abs(octaves - std::round(octaves)) < 1e-6;
}

// What a sweep on the frames of the selected probe says of bandwidths past it.
struct Reached {
  const Probe* wall = nullptr;  // the first past it
  const Probe* last = nullptr;  // the largest below it, or of all where there is none
};

Reached reached_by(const Model& model) {
  Reached reached;
  const Probe* probe = accepted(model);
  if (probe == nullptr) return reached;
  for (const Probe& p : model.sweep)
    if (p.n == probe->n && p.outcome == "wall" && (reached.wall == nullptr || p.beta < reached.wall->beta)) reached.wall = &p;
  for (const Probe& p : model.sweep)
    if (p.n == probe->n && p.outcome != "wall" && (reached.wall == nullptr || p.beta < reached.wall->beta) &&
        (reached.last == nullptr || p.beta > reached.last->beta))
      reached.last = &p;
  return reached;
}

// The largest of the dyadic probes: past it there are only vertices of brackets.
double last_octave(const Model& model) {
  double last = 0;
  for (const Probe& probe : model.sweep)
    if (on_octave(model, probe)) last = std::max(last, probe.beta);
  return last;
}

// A sweep that met no wall says something of the paper's where it went as far.
void compare_wall(const Model* model, Result& result) {
  constexpr double octave = std::numbers::sqrt2;
  constexpr double rounding = 0x1p-23;
  const char *largest = "largest β that is still admissible", *past = "β past the fp32 Perron wall",
             *gap = "Perron gap past the wall", *same_octave = "within a factor of √2: the same octave of the grid",
             *resolved = "no more than fp32 resolves beside 1, 1.2e-7";
  const Reached reached = model != nullptr ? reached_by(*model) : Reached();
  const auto leave_open = [&](const char* claim, const char* name, const std::string& why) {
    result.comparisons.push_back(unmeasured(claim, place(name), paper_of(name), why));
  };
  if (reached.last == nullptr && reached.wall == nullptr) {
    const char* why =
        model == nullptr ? "the bandwidth was given: there was no sweep" : "no probe has the bandwidth of the model";
    leave_open(largest, "beta_admissible", why);
    leave_open(past, "beta_wall", why);
    leave_open(gap, "perron_gap_at_wall", why);
    return;
  }
  if (reached.wall == nullptr) {
    const Probe& last = *reached.last;
    const std::string stopped = fmt::format("the flow met no wall: it stopped at β = {:.5g}, which is no limit", last.beta);
    const std::string beyond = fmt::format("the flow probed as far as β = {:.5g}, where the Perron gap is {:.2g}: no wall yet",
                                           last.beta, last.perron_gap);
    if (last.beta > octave * paper_of("beta_admissible"))
      result.comparisons.push_back(
          stated(largest, place("beta_admissible"), paper_of("beta_admissible"), last.beta, false, same_octave, beyond));
    else leave_open(largest, "beta_admissible", stopped);
    if (octave * last.beta < paper_of("beta_wall")) {
      leave_open(past, "beta_wall", stopped);
      leave_open(gap, "perron_gap_at_wall", stopped);
      return;
    }
    result.comparisons.push_back(stated(past, place("beta_wall"), paper_of("beta_wall"),
                                        fmt::format("none up to {:.5g}", last.beta), false, same_octave, beyond));
    result.comparisons.push_back(stated(gap, place("perron_gap_at_wall"), paper_of("perron_gap_at_wall"), last.perron_gap,
                                        last.perron_gap <= rounding, resolved, beyond));
    return;
  }
  const auto moved = [](double ours, const char* name) {
    return ours < paper_of(name) ? "these frames lose each other at a smaller β, perhaps as they lie further apart"
                                 : "these frames lose each other only at a larger β, perhaps as they lie closer together";
  };
  if (reached.last == nullptr) leave_open(largest, "beta_admissible", "the first probe was past the wall");
  else
    result.comparisons.push_back(by_factor(largest, "beta_admissible", reached.last->beta, octave, same_octave,
                                           moved(reached.last->beta, "beta_admissible")));
  result.comparisons.push_back(
      by_factor(past, "beta_wall", reached.wall->beta, octave, same_octave, moved(reached.wall->beta, "beta_wall")));
  result.comparisons.push_back(stated(gap, place("perron_gap_at_wall"), paper_of("perron_gap_at_wall"), reached.wall->perron_gap,
                                      reached.wall->perron_gap <= rounding, resolved,
                                      "the sweep ends where a few roundings are reached"));
}

}  // namespace

bool at_paper_beta(double beta) { return within_factor(paper_of("beta"), beta, 1.02); }

const Probe* accepted(const Model& model) {
  const Probe* found = nullptr;
  for (const Probe& probe : model.sweep)
    if (probe.beta == model.beta) found = &probe;
  return found;
}

std::size_t dyadic_probes_of(const Model& model) {
  std::set<long> octaves;
  for (const Probe& probe : model.sweep)
    if (on_octave(model, probe)) octaves.insert(std::lround(octaves_from_first(model, probe)));
  return octaves.size();
}

double largest_residual(const Model& model) {
  double residual = 0;
  for (const double r : model.residuals) residual = worse(residual, r);
  return residual;
}

void compare_spectrum(const Model& model, Result& result) {
  bool ordered = true;
  for (std::size_t j = 0; j < model.modes(); ++j)
    ordered = ordered && model.eigenvalues[j] > 0 && (j == 0 || model.eigenvalues[j] <= model.eigenvalues[j - 1]);
  result.comparisons.push_back(stated("all computed eigenvalues are positive and ordered",
                                      place("eigenvalues_positive_and_ordered"), "all 256",
                                      fmt::format("{} of {}", ordered ? "all" : "not all", model.modes()), ordered, "every one"));
  const double residual = largest_residual(model);
  result.comparisons.push_back(stated("the modes are eigenvectors", place("modes"), "not reported", residual, residual < 1e-4,
                                      "every residual |Mv − λv| below 1e-4"));
  // What the paper says of its bandwidth, of this one.
  const auto add = [&](const std::string& claim, const char* name, const Value& paper, const Value& ours, bool holds,
                       const char* rule, const std::string& why) {
    if (!at_paper_beta(model.beta))
      result.comparisons.push_back(
          unmeasured(claim, place(name), paper, fmt::format("the paper's is at β = 276.4; {:.4g} was given", model.beta)));
    else
      result.comparisons.push_back(
          stated(claim, place(name), paper, ours, holds, rule, ours.known() ? why : "ours is not a number"));
  };
  const double gap = 1 - paper_of("largest_eigenvalue"), our_gap = 1 - model.eigenvalues.front();
  add("1 − largest eigenvalue", "largest_eigenvalue", gap, our_gap, within_factor(gap, our_gap, 1.25), "within a factor of 1.25",
      our_gap < gap ? "the slowest process seems slower on these frames" : "the slowest process seems faster on these frames");
  const double last = paper_of("last_eigenvalue");
  const auto modes = static_cast<std::size_t>(paper_of("modes"));
  if (model.modes() < modes)
    result.comparisons.push_back(
        unmeasured("eigenvalue 256", place("last_eigenvalue"), last, fmt::format("{} modes here", model.modes())));
  else {
    const double ours = model.eigenvalues[modes - 1];
    add("eigenvalue 256", "last_eigenvalue", last, ours, within_factor(last, ours, 1.1), "within 10 %",
        ours < last ? "the spectrum falls faster on these frames" : "the spectrum falls more slowly on these frames");
  }
  const Probe* probe = accepted(model);
  const double share = probe != nullptr ? probe->n_eff / static_cast<double>(probe->n) : std::nan(""),
               dimension = probe != nullptr ? probe->d_hat : std::nan("");
  add("effective neighbours, of all frames", "n_eff_share", paper_of("n_eff_share"), share,
      within_factor(paper_of("n_eff_share"), share, 1.25), "within a factor of 1.25",
      share > paper_of("n_eff_share") ? "perhaps these frames lie closer together" : "perhaps these frames lie further apart");
  add("dimension at the scale of the kernel, d̂", "d_hat", paper_of("d_hat"), dimension,
      std::abs(dimension - paper_of("d_hat")) <= 0.25, "within 0.25",
      dimension > paper_of("d_hat") ? "these frames fill more directions at this scale"
                                    : "these frames fill fewer directions at this scale");
}

void compare_flow(const Model* flow, Chosen chosen, Result& result) {
  const char *beta = "β of the flow", *count = "dyadic probes of the flow", *given = "the bandwidth was given";
  if (flow == nullptr) {
    result.comparisons.push_back(unmeasured(beta, place("beta"), paper_of("beta"), given));
    result.comparisons.push_back(unmeasured(count, place("probes"), paper_of("probes"), given));
  } else {
    result.comparisons.push_back(by_factor(beta, "beta", flow->beta, 1.1, "within 10 %", reason_of(*flow, chosen)));
    const auto probes = static_cast<double>(dyadic_probes_of(*flow));
    result.comparisons.push_back(
        chosen == Chosen::flow
            ? stated(count, place("probes"), paper_of("probes"), probes, probes == paper_of("probes"), "the same number",
                     fmt::format("octaves from β₀ = {:.3g} to {:.5g}, where the flow {}; the paper's run from 8.64 to 1105.7",
                                 flow->sweep.front().beta, last_octave(*flow),
                                 reached_by(*flow).wall != nullptr ? "met the wall" : "had a bracket around the minimum"))
            : unmeasured(count, place("probes"), paper_of("probes"), "another rule than the paper's was asked for"));
  }
  compare_wall(flow, result);
}

void compare_time(const Model& model, Chosen chosen, Result& result) {
  const char* seconds = "seconds of the eigensolve";
  if (model.n != static_cast<std::size_t>(paper_of("frames")))
    result.comparisons.push_back(
        unmeasured(seconds, place("seconds"), paper_of("seconds"),
                   fmt::format("the paper's are of 750,000 frames on eight GPUs; {} frames took {:.3g} s on this machine",
                               model.n, model.seconds)));
  else if (chosen != Chosen::flow)
    result.comparisons.push_back(
        unmeasured(seconds, place("seconds"), paper_of("seconds"), "the paper's are of its flow, which was not asked for"));
  else
    result.comparisons.push_back(stated(seconds, place("seconds"), paper_of("seconds"), model.seconds,
                                        model.seconds <= paper_of("seconds"), "no longer than the paper's eight GPUs",
                                        "this machine, with whatever else runs on it"));
}

}  // namespace fd::reproduce
