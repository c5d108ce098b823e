#include "reproduce/alanine_claims.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/worst.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

std::string place(const char* name) { return paper_place("alanine", name); }
double paper_of(const char* name) { return paper_number("alanine", name); }

bool within_factor(double paper, double ours, double factor) { return ours <= factor * paper && paper <= factor * ours; }

// A number of the paper's, ours, and the factor that may lie between them.
Comparison by_factor(std::string claim, const char* name, double ours, double factor, std::string rule, std::string why = {}) {
  if (std::isnan(ours)) return unmeasured(std::move(claim), place(name), paper_of(name), "not a number here");
  return stated(std::move(claim), place(name), paper_of(name), ours, within_factor(paper_of(name), ours, factor), std::move(rule),
                std::move(why));
}

void compare_eigenvalues(const Model& model, Result& result) {
  bool ordered = true;
  for (std::size_t j = 0; j < model.modes(); ++j)
    ordered = ordered && model.eigenvalues[j] > 0 && (j == 0 || model.eigenvalues[j] <= model.eigenvalues[j - 1]);
  result.comparisons.push_back(stated("all computed eigenvalues are positive and ordered",
                                      place("eigenvalues_positive_and_ordered"), "all 256",
                                      fmt::format("{} of {}", ordered ? "all" : "not all", model.modes()), ordered, "every one"));
  double residual = 0;
  for (const double r : model.residuals) residual = worse(residual, r);
  result.comparisons.push_back(stated("the modes are eigenvectors", place("modes"), "not reported", residual, residual < 1e-4,
                                      "every residual |Mv − λv| below 1e-4"));
  const double paper = paper_of("largest_eigenvalue"), ours = model.eigenvalues.front();
  result.comparisons.push_back(stated("largest eigenvalue", place("largest_eigenvalue"), paper, ours,
                                      within_factor(1 - paper, 1 - ours, 2), "1 − λ within a factor of 2",
                                      "it depends on β, and on how often the frames show the slowest process"));
  const double modes = paper_of("modes");
  const std::string claim = "eigenvalue 256";
  if (static_cast<double>(model.modes()) < modes)
    result.comparisons.push_back(
        unmeasured(claim, place("last_eigenvalue"), paper_of("last_eigenvalue"), fmt::format("{} modes here", model.modes())));
  else
    result.comparisons.push_back(compared(
        claim, place("last_eigenvalue"), paper_of("last_eigenvalue"), model.eigenvalues[static_cast<std::size_t>(modes) - 1],
        0.1 * paper_of("last_eigenvalue"), "within 10 %", "it depends on β, and on which parts of the plane the frames visit"));
}

// What the sweep says of bandwidths past the one that was selected. Without a wall the largest β is only where the sweep stopped.
void compare_wall(const Model& model, const Probe* probe, Chosen chosen, Result& result) {
  const Probe* wall = nullptr;
  for (const Probe& p : model.sweep)
    if (p.outcome == "wall" && probe != nullptr && p.n == probe->n && (wall == nullptr || p.beta < wall->beta)) wall = &p;
  const char *largest = "largest β that is still admissible", *past = "β past the fp32 Perron wall",
             *gap = "Perron gap past the wall";
  if (wall == nullptr) {
    double stopped = 0;
    for (const Probe& p : model.sweep) stopped = std::max(stopped, p.beta);
    const std::string why = chosen == Chosen::given
                                ? std::string("the bandwidth was given: there was no sweep")
                                : fmt::format("the flow met no wall: it stopped at β = {:.4g}, which is no limit", stopped);
    result.comparisons.push_back(unmeasured(largest, place("beta_admissible"), paper_of("beta_admissible"), why));
    result.comparisons.push_back(unmeasured(past, place("beta_wall"), paper_of("beta_wall"), why));
    result.comparisons.push_back(unmeasured(gap, place("perron_gap_at_wall"), paper_of("perron_gap_at_wall"), why));
    return;
  }
  double admissible = std::nan("");
  for (const Probe& p : model.sweep)
    if (p.n == wall->n && p.outcome != "wall" && p.beta < wall->beta) admissible = std::fmax(admissible, p.beta);
  result.comparisons.push_back(
      std::isnan(admissible)
          ? unmeasured(largest, place("beta_admissible"), paper_of("beta_admissible"), "the first probe was past the wall")
          : by_factor(largest, "beta_admissible", admissible, 2, "within a factor of 2: the grid is dyadic"));
  result.comparisons.push_back(by_factor(past, "beta_wall", wall->beta, 2, "within a factor of 2: the grid is dyadic"));
  constexpr double rounding = 0x1p-23;
  result.comparisons.push_back(stated(gap, place("perron_gap_at_wall"), paper_of("perron_gap_at_wall"), wall->perron_gap,
                                      wall->perron_gap <= rounding, "no more than fp32 resolves beside 1, 1.2e-7",
                                      "the sweep ends where a few roundings are reached"));
}

}  // namespace

const Probe* accepted(const Model& model) {
  const Probe* found = nullptr;
  for (const Probe& probe : model.sweep)
    if (probe.beta == model.beta) found = &probe;
  return found;
}

std::size_t probes_of(const Model& model) {
  std::set<double> bandwidths;
  for (const Probe& probe : model.sweep) bandwidths.insert(probe.beta);
  return bandwidths.size();
}

void compare_spectrum(const Model& model, Chosen chosen, Result& result) {
  compare_eigenvalues(model, result);
  const Probe* probe = accepted(model);
  if (chosen == Chosen::given)
    result.comparisons.push_back(unmeasured("β of the flow", place("beta"), paper_of("beta"), "the bandwidth was given"));
  else
    result.comparisons.push_back(by_factor("β of the flow", "beta", model.beta, 1.5, "within a factor of 1.5",
                                           "β depends on how many frames there are, and on the force field"));
  const auto probes = static_cast<double>(probes_of(model));
  result.comparisons.push_back(
      chosen == Chosen::flow
          ? stated("probes of the flow", place("probes"), paper_of("probes"), probes, probes == paper_of("probes"),
                   "the same number", "from the paper's β₀ to the bandwidth past the selected one, an octave each")
          : unmeasured("probes of the flow", place("probes"), paper_of("probes"),
                       chosen == Chosen::given ? "the bandwidth was given" : "another rule than the paper's was asked for"));
  const std::string share_claim = "a point has a few hundredths of all frames as effective neighbours",
                    dimension_claim = "dimension at the scale of the kernel, d̂";
  if (probe == nullptr) {
    const char* why = "no probe of this bandwidth was kept";
    result.comparisons.push_back(unmeasured(share_claim, place("n_eff_share"), paper_of("n_eff_share"), why));
    result.comparisons.push_back(unmeasured(dimension_claim, place("d_hat"), paper_of("d_hat"), why));
  } else {
    result.comparisons.push_back(by_factor(share_claim, "n_eff_share", probe->n_eff / static_cast<double>(probe->n), 3,
                                           "within a factor of 3", "it falls as β grows"));
    result.comparisons.push_back(compared(dimension_claim, place("d_hat"), paper_of("d_hat"), probe->d_hat, 1.5, "within 1.5",
                                          "d̂ grows with β: at another bandwidth it is another scale"));
  }
  compare_wall(model, probe, chosen, result);
  const char* seconds = "seconds of the eigensolve";
  result.comparisons.push_back(
      model.n == static_cast<std::size_t>(paper_of("frames"))
          ? stated(seconds, place("seconds"), paper_of("seconds"), model.seconds, model.seconds <= paper_of("seconds"),
                   "no longer than the paper's eight GPUs", "this machine's processor, with whatever else runs on it")
          : unmeasured(seconds, place("seconds"), paper_of("seconds"),
                       fmt::format("the paper's are of 750,000 frames on eight GPUs; {} frames took {:.3g} s on a processor here",
                                   model.n, model.seconds)));
}

void compare_decoding(const std::vector<Decoded>& all, const Frames& frames, const Split& split, Result& result) {
  const PaperTable paper("alanine", "decoding");
  const Decoded& last = all.back();
  const std::size_t row = paper.row_of("m", static_cast<double>(last.m));
  const bool same = frames.features.rows() == static_cast<std::size_t>(paper_of("frames"));
  const char* why = same                     ? ""
                    : hardly_visited(frames) ? "other frames than the paper's 750,000, which hardly visit φ > 0"
                                             : "other frames than the paper's 750,000";
  for (const bool phi : {true, false}) {
    const std::string claim = fmt::format("held-out error of {} at m = {}, degrees", phi ? "φ" : "ψ", last.m);
    const double ours = phi ? last.held.phi : last.held.psi;
    if (row < paper.rows()) {
      const double theirs = paper.at(row, phi ? "phi_trajectory" : "psi_trajectory");
      result.comparisons.push_back(
          stated(claim, paper.where(), theirs, ours, ours <= 1.1 * theirs, "no more than a tenth above the paper's", why));
    } else {
      result.comparisons.push_back(unmeasured(claim, paper.where(), {}, "the paper has no such m"));
    }
  }
  const std::string condition = fmt::format("condition of the Gram matrix at m = {}", last.m);
  if (row < paper.rows())
    result.comparisons.push_back(
        stated(condition, paper.where(), paper.at(row, "condition"), last.condition,
               within_factor(paper.at(row, "condition"), last.condition, 3), "within a factor of 3",
               "modes that live on a few frames make it large, and which there are depends on the frames"));
  else result.comparisons.push_back(unmeasured(condition, paper.where(), {}, "the paper has no such m"));

  const double features = paper_of("features");
  const char *falls = "both errors still fall past D = 80", *fallen = "5.26 → 4.86, 4.42 → 3.95";
  const Decoded* before = all.size() > 1 ? &all[all.size() - 2] : nullptr;
  if (before == nullptr || static_cast<double>(before->m) < features)
    result.comparisons.push_back(
        unmeasured(falls, place("improves_past_features"), fallen,
                   before == nullptr ? fmt::format("{} modes here", last.m)
                                     : fmt::format("the last step here, from m = {} to {}, begins below 80", before->m, last.m)));
  else
    result.comparisons.push_back(
        stated(fmt::format("{}, from m = {} to {}", falls, before->m, last.m), place("improves_past_features"), fallen,
               fmt::format("{:.2f} → {:.2f}, {:.2f} → {:.2f}", before->held.phi, last.held.phi, before->held.psi, last.held.psi),
               last.held.phi < before->held.phi && last.held.psi < before->held.psi, "both fall",
               fmt::format("the decoder has {} frames and next to no penalty: few frames for many modes", split.train.size())));
  const std::size_t onset = onset_of_psi(all);
  const double paper_onset = paper_of("onset_psi");
  const char* begins = "ψ begins its principal decrease at m";
  result.comparisons.push_back(
      onset == 0
          ? unmeasured(begins, place("onset_psi"), paper_onset, "at no doubling of m does ψ's error fall by a fifth or more")
          : stated(begins, place("onset_psi"), paper_onset, static_cast<double>(onset),
                   onset == static_cast<std::size_t>(paper_onset), "the same m",
                   "which modes come first depends on β and on how often the frames show the slow φ process"));
  const double apart = std::max(std::abs(last.held.phi - last.random.phi), std::abs(last.held.psi - last.random.psi));
  result.comparisons.push_back(stated("unseen trajectories are decoded as well as random frames: the errors differ by, degrees",
                                      place("holdout_difference"), paper_of("holdout_difference"), apart, apart <= 0.25,
                                      "no more than 0.25 degrees",
                                      "a mean over a few hundred or thousand frames is known no better"));
}

}  // namespace fd::reproduce
