#include "reproduce/alanine_figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/row_blocks.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/ramachandran.hpp"

namespace fd::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

Series errors_of(const std::vector<Decoded>& all, const char* name, AngleErrors Decoded::*holdout, double AngleErrors::*angle) {
  Series series{name, Source::ours, {}};
  for (const Decoded& one : all) series.points.push_back({static_cast<double>(one.m), one.*holdout.*angle});
  return series;
}

// Of marks within half an octave of each other the words of one alone fit: the first.
void add_mark(std::vector<VerticalMark>& marks, double x, const std::string& text) {
  for (const VerticalMark& mark : marks)
    if (std::abs(std::log2(mark.x / x)) < 0.7) return;
  marks.push_back({x, text});
}

Figure error_figure(const std::vector<Decoded>& all) {
  const PaperTable paper("alanine", "decoding");
  Figure errors{"errors",
                "Error of decoded angles",
                "The paper's figure 3a: trajectories held out, and frames left out at random of those the decoder was fitted to.",
                {"modes m", true},
                {"degrees", true},
                {}};
  errors.series = {{"φ, paper", Source::paper, paper.points("m", "phi_trajectory")},
                   {"ψ, paper", Source::paper, paper.points("m", "psi_trajectory")},
                   {"φ random, paper", Source::paper, paper.points("m", "phi_random")},
                   {"ψ random, paper", Source::paper, paper.points("m", "psi_random")},
                   errors_of(all, "φ, ours", &Decoded::held, &AngleErrors::phi),
                   errors_of(all, "ψ, ours", &Decoded::held, &AngleErrors::psi),
                   errors_of(all, "φ random, ours", &Decoded::random, &AngleErrors::phi),
                   errors_of(all, "ψ random, ours", &Decoded::random, &AngleErrors::psi)};
  for (std::size_t i = 0; i < errors.series.size(); ++i) {  // of paper and ours: φ, ψ, then both of random frames
    errors.series[i].colour = i % 2;
    errors.series[i].dashed = i % 4 >= 2;
  }
  errors.wide = true;
  const double features = paper_number("alanine", "features"), paper_onset = paper_number("alanine", "onset_psi"),
               onset = static_cast<double>(onset_of_psi(all));
  errors.marks = {{features, fmt::format("D = {:.0f}", features)}};
  add_mark(errors.marks, paper_onset, fmt::format("paper m_ψ = {:.0f}{}", paper_onset, onset == paper_onset ? ", ours too" : ""));
  if (onset > 0) add_mark(errors.marks, onset, fmt::format("ours m_ψ = {:.0f}", onset));
  return errors;
}

Figure spectrum_figure(const Model& model) {
  Figure spectrum{
      "spectrum", "Eigenvalues", "All nontrivial eigenvalues that were computed; the paper prints its first and its last.",
      {"mode"},   {"λ"},         {}};
  Series ours{"ours", Source::ours, {}, true, false};
  for (std::size_t j = 0; j < model.modes(); ++j) ours.points.push_back({static_cast<double>(j + 1), model.eigenvalues[j]});
  spectrum.series = {{"paper",
                      Source::paper,
                      {{1, paper_number("alanine", "largest_eigenvalue")},
                       {paper_number("alanine", "modes"), paper_number("alanine", "last_eigenvalue")}},
                      false},
                     std::move(ours)};
  return spectrum;
}

// A strided piece of a trajectory held out, as decoded and as it was, over the free energy of all that is held out.
Figure segment_figure(const FreeEnergy& reference, const MatrixXd& truth, const MatrixXd& decoded) {
  Figure segment = reference.figure("segment", "A decoded piece of a trajectory held out");
  segment.caption =
      "The paper's figure 3b: free energy of the frames held out, and every 5th of 200 successive frames, true and decoded.";
  Series was{"true", Source::reference, {}}, found{"decoded", Source::ours, {}};
  for (Index i = 0; i < std::min<Index>(200, truth.rows()); i += 5) {
    was.points.push_back({truth(i, 0), truth(i, 1)});
    found.points.push_back({decoded(i, 0), decoded(i, 1)});
  }
  was.line = found.line = false;  // successive frames jump across the plane
  segment.series = {std::move(was), std::move(found)};
  return segment;
}

Figure scatter_figure(const MatrixXd& truth, const MatrixXd& decoded) {
  Series frames{"frames left out at random", Source::ours, {}, false};
  for (Index i = 0; i < std::min<Index>(1500, truth.rows()); ++i)
    frames.points.push_back({truth(i, 0), truth(i, 1), 0, joint_error(decoded, truth, i)});
  Figure scatter{"joint-error",
                 "Where the decoder errs",
                 "Frames left out at random, coloured by the joint error of their decoded angles.",
                 {"φ, degrees", false, -180, 180},
                 {"ψ, degrees", false, -180, 180},
                 {std::move(frames)}};
  scatter.shade = {"joint error, degrees", 0, 30};
  return scatter;
}

}  // namespace

void add_figures(const std::vector<Decoded>& all, const Model& model, const Frames& frames, const Split& split, Result& result) {
  const Decoded& last = all.back();
  const Decoded* coarse = &all.front();
  for (const Decoded& one : all)
    if (one.m == 8) coarse = &one;
  const MatrixXd truth = rows_of(frames.angles, split.held, 2);
  const FreeEnergy reference(truth), few(coarse->held_angles), many(last.held_angles);
  result.figures = {error_figure(all),
                    spectrum_figure(model),
                    reference.figure("reference", "Reference: trajectories held out"),
                    few.figure("few-modes", fmt::format("Decoded from {} modes", coarse->m)),
                    many.figure("many-modes", fmt::format("Decoded from {} modes", last.m)),
                    segment_figure(reference, truth, last.held_angles),
                    scatter_figure(rows_of(frames.angles, split.random, 2), last.random_angles)};
  result.tables.push_back({"surfaces",
                           "Share of the probability that lies in another cell of 10° × 10° than in the reference (half the sum "
                           "of absolute differences).",
                           {{"m"}, {"misplaced", "%"}},
                           {{static_cast<double>(coarse->m), 100 * reference.misplaced(few)},
                            {static_cast<double>(last.m), 100 * reference.misplaced(many)}}});
}

}  // namespace fd::reproduce
