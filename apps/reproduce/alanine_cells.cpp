// The claims of section 4 about decoded angles: figure 3a cell by cell, and what the text says of it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/worst.hpp"
#include "reproduce/alanine_claims.hpp"
#include "reproduce/alanine_paper.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

struct Column {
  const char *name, *title;
  double (*ours)(const Decoded&);
  bool random = false;
};
constexpr Column columns[] = {
    {"phi_trajectory", "error of φ, held out", [](const Decoded& d) { return d.held.phi; }},
    {"psi_trajectory", "error of ψ, held out", [](const Decoded& d) { return d.held.psi; }},
    {"joint_trajectory", "joint error, held out", [](const Decoded& d) { return d.held.joint; }},
    {"phi_random", "error of φ, random frames", [](const Decoded& d) { return d.random.phi; }, true},
    {"psi_random", "error of ψ, random frames", [](const Decoded& d) { return d.random.psi; }, true},
    {"joint_random", "joint error, random frames", [](const Decoded& d) { return d.random.joint; }, true},
};

const Decoded* of_modes(const std::vector<Decoded>& all, double m) {
  for (const Decoded& one : all)
    if (static_cast<double>(one.m) == m) return &one;
  return nullptr;
}

std::string too_few(const std::vector<Decoded>& all) { return fmt::format("{} modes here", all.back().m); }

void compare_cells(const std::vector<Decoded>& all, const Frames& frames, const Split& split, Result& result) {
  constexpr std::size_t fewest = 30;  // random frames whose mean error says something
  const PaperTable paper("alanine", "decoding");
  const bool same = frames.features.rows() == static_cast<std::size_t>(paper_of("frames"));
  const std::string other = same ? "on the paper's number of frames"
                                 : fmt::format("perhaps for the frames: {} here, 750,000 in the paper", frames.features.rows());
  for (std::size_t row = 0; row < paper.rows(); ++row) {
    const double m = paper.at(row, "m");
    const Decoded* one = of_modes(all, m);
    for (const Column& column : columns) {
      const std::string claim = fmt::format("{}, m = {:.0f}, degrees", column.title, m);
      const double theirs = paper.at(row, column.name);
      if (one == nullptr || (column.random && split.random.size() < fewest)) {
        result.comparisons.push_back(
            unmeasured(claim, paper.where(), theirs,
                       one == nullptr ? too_few(all) : fmt::format("{} random frames are too few", split.random.size())));
        continue;
      }
      const double ours = column.ours(*one);
      result.comparisons.push_back(compared(claim, paper.where(), theirs, ours, 0.1 * theirs, "within 10 %",
                                            fmt::format("{}, {}", ours < theirs ? "decoded better" : "decoded worse", other)));
    }
    const std::string claim = fmt::format("condition of the Gram matrix, m = {:.0f}", m);
    const double theirs = paper.at(row, "condition");
    if (one == nullptr) result.comparisons.push_back(unmeasured(claim, paper.where(), theirs, too_few(all)));
    else
      result.comparisons.push_back(stated(
          claim, paper.where(), theirs, one->condition, one->condition <= 2 * theirs && theirs <= 2 * one->condition,
          "within a factor of 2",
          fmt::format("{} here; some modes may hardly live on the frames that the decoder is fitted to, which makes it large",
                      one->condition < theirs ? "smaller" : "larger")));
  }
}

void compare_text(const std::vector<Decoded>& all, const Split& split, Result& result) {
  const std::vector<double> fall = paper_numbers("alanine", "phi_fall"), range = paper_numbers("alanine", "phi_fall_modes");
  const double level = paper_of("psi_plateau");
  const Decoded *from = of_modes(all, range.at(0)), *to = of_modes(all, range.at(1)), *between = of_modes(all, 4);
  const char *falls_early = "φ's error at m = 8, of that at m = 2", *plateau = "ψ's error stays near 15° through m = 8";
  if (from == nullptr || to == nullptr || between == nullptr) {
    result.comparisons.push_back(unmeasured(falls_early, place("phi_fall"), fall.at(1) / fall.at(0), too_few(all)));
    result.comparisons.push_back(unmeasured(plateau, place("psi_plateau"), level, too_few(all)));
  } else {
    const double theirs = fall.at(1) / fall.at(0), ours = to->held.phi / from->held.phi;
    result.comparisons.push_back(compared(falls_early, place("phi_fall"), theirs, ours, 0.1 * theirs, "within 10 %",
                                          fmt::format("φ falls from {:.2f}° to {:.2f}° here, from 26.69° to 7.71° there: by {}",
                                                      from->held.phi, to->held.phi, ours < theirs ? "more" : "less")));
    double lowest = level;
    bool stays = true;
    for (const Decoded* one : {from, between, to}) {
      lowest = std::min(lowest, one->held.psi);
      stays = stays && std::abs(one->held.psi - level) <= 0.1 * level;
    }
    result.comparisons.push_back(
        stated(plateau, place("psi_plateau"), level,
               fmt::format("{:.1f}, {:.1f}, {:.1f}", from->held.psi, between->held.psi, to->held.psi), stays,
               "within 10 % of 15° at m = 2, 4 and 8",
               lowest < 0.9 * level ? "modes that tell ψ seem to come earlier here" : "ψ is told worse by the first modes here"));
  }

  const Decoded& last = all.back();
  const double features = paper_of("features");
  const char *falls = "both errors still fall past D = 80", *fallen = "5.26 → 4.86, 4.42 → 3.95";
  const Decoded* before = all.size() > 1 ? &all[all.size() - 2] : nullptr;
  if (before == nullptr || static_cast<double>(before->m) < features)
    result.comparisons.push_back(
        unmeasured(falls, place("improves_past_features"), fallen,
                   before == nullptr ? too_few(all)
                                     : fmt::format("the last step here, from m = {} to {}, begins below 80", before->m, last.m)));
  else
    result.comparisons.push_back(
        stated(falls, place("improves_past_features"), fallen,
               fmt::format("{:.2f} → {:.2f}, {:.2f} → {:.2f}", before->held.phi, last.held.phi, before->held.psi, last.held.psi),
               last.held.phi < before->held.phi && last.held.psi < before->held.psi,
               fmt::format("both fall from m = {} to {}", before->m, last.m),
               fmt::format("the decoder has {} frames and next to no penalty, which may be few frames for so many modes",
                           split.train.size())));
  const std::size_t onset = onset_of_psi(all);
  const double paper_onset = paper_of("onset_psi");
  const char* begins = "ψ begins its principal decrease at m";
  if (onset == 0 && static_cast<double>(last.m) < paper_onset)
    result.comparisons.push_back(unmeasured(begins, place("onset_psi"), paper_onset, too_few(all)));
  else
    result.comparisons.push_back(onset == 0
                                     ? stated(begins, place("onset_psi"), paper_onset, fmt::format("at none up to {}", last.m),
                                              false, "the same m", "at no doubling of m does ψ's error fall by a fifth or more")
                                     : stated(begins, place("onset_psi"), paper_onset, static_cast<double>(onset),
                                              onset == static_cast<std::size_t>(paper_onset), "the same m",
                                              static_cast<double>(onset) < paper_onset
                                                  ? "perhaps fewer modes stand before those that tell ψ on these frames"
                                                  : "perhaps more modes stand before those that tell ψ on these frames"));
}

// The paper's segment is 7.1 where its whole trajectory is 6.91: over all frames held out the claim is known best.
void compare_segment(const std::vector<Decoded>& all, const Split& split, Result& result) {
  const char* claim = "mean joint error of a piece held out, degrees";
  const double paper = paper_of("segment_joint_error");
  const Decoded* one = of_modes(all, paper_of("modes"));
  if (one == nullptr) {
    result.comparisons.push_back(unmeasured(claim, place("segment_joint_error"), paper,
                                            fmt::format("the paper's is from 256 modes, there are {} here", all.back().m)));
    return;
  }
  result.comparisons.push_back(compared(claim, place("segment_joint_error"), paper, one->held.joint, 0.1 * paper,
                                        "within 10 %, over all frames held out",
                                        fmt::format("{} than the paper's piece, in the mean over {} frames",
                                                    one->held.joint < paper ? "better" : "worse", split.held.size())));
}

// The paper's two differences are below 0.05 degrees. A difference of two means is known to no more than its standard error, which is about 0.1 for
// the 5,000 random frames of the paper: fewer say nothing of such a difference.
void compare_holdouts(const Decoded& last, const Frames& frames, const Split& split, Result& result) {
  const char* claim = "unseen trajectories are decoded as well as random frames: the errors differ by, degrees";
  const double limit = paper_of("holdout_difference");
  const double apart = worse(std::abs(last.held.phi - last.random.phi), std::abs(last.held.psi - last.random.psi));
  const double uncertain = difference_uncertainty(last, frames, split);
  if (uncertain > 3 * limit)
    result.comparisons.push_back(
        unmeasured(claim, place("holdout_difference"), limit,
                   fmt::format("{:.2g} here, give or take {:.2g}: {} random frames are too few to tell it from 0.05", apart,
                               uncertain, split.random.size())));
  else
    result.comparisons.push_back(
        stated(claim, place("holdout_difference"), limit, Value(apart, uncertain), apart <= limit + 2 * uncertain,
               "no more than the paper's 0.05 and two standard errors",
               fmt::format("{:.1f} standard errors of the difference of the two means", apart / uncertain)));
}

}  // namespace

void compare_decoding(const std::vector<Decoded>& all, const Frames& frames, const Split& split, double beta, Result& result) {
  const std::size_t first = result.comparisons.size();
  compare_cells(all, frames, split, result);
  compare_text(all, split, result);
  compare_segment(all, split, result);
  for (std::size_t i = first; i < result.comparisons.size() && !at_paper_beta(beta); ++i) {
    Comparison& comparison = result.comparisons[i];
    if (comparison.verdict == Verdict::unmeasured) continue;
    comparison.verdict = Verdict::unmeasured;
    comparison.why = fmt::format("ours is at β = {:.4g}, the paper's at 276.4", beta);
  }
  compare_holdouts(all.back(), frames, split, result);
}

}  // namespace fd::reproduce
