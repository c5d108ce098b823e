// reproduce t6: the flat six-torus of section 3. Time, bandwidth and how well the leading harmonics are recovered, against N, by the
// paper's rule for the bandwidth and by the default one, each over several draws of the points.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/worst.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/statistics.hpp"
#include "reproduce/t6_runs.hpp"

namespace fd::reproduce {
namespace t6 {
namespace {

ResultTable table_of(const std::vector<Size>& sizes, const PaperTable& ladder, const PaperTable& one, const PaperTable& four) {
  ResultTable table{"t6",
                    "Means over the runs, ± one standard deviation; our times: medians, ± half the width of the middle half. "
                    "Each run draws its own points. Paper: on GPUs.",
                    {{"N"},
                     {"runs"},
                     {"β paper"},
                     {"β ours, paper's rule"},
                     {"β ours, default"},
                     {"overlap paper"},
                     {"overlap ours, paper's rule"},
                     {"overlap ours, default"},
                     {"time paper", "s"},
                     {"time ours, paper's rule", "s"},
                     {"time ours, default", "s"},
                     {"passes, paper's rule"},
                     {"passes, default"}},
                    {}};
  for (const Size& size : sizes) {
    const double n = static_cast<double>(size.n);
    const std::size_t row = ladder.row_of("n", n), gpu = one.row_of("n", n);
    const Value time =
        gpu < one.rows() ? one.value(gpu, "seconds", "seconds_sd") : four.value(four.row_of("n", n), "seconds", "seconds_sd");
    const Cell &paper = size.cells[0], &own = size.cells[1];
    table.rows.push_back({n, static_cast<double>(size.runs), ladder.value(row, "beta", "beta_sd"), mean_of(paper.beta),
                          mean_of(own.beta), ladder.value(row, "overlap", "overlap_sd"), mean_of(paper.overlap),
                          mean_of(own.overlap), time, median_of(paper.seconds), median_of(own.seconds),
                          mean_of(paper.passes).number, mean_of(own.passes).number});
  }
  return table;
}

Series series_of(const std::vector<Size>& sizes, std::size_t rule, std::vector<double> Cell::*quantity, const char* name,
                 bool one_minus = false) {
  Series series{name, Source::ours, {}};
  for (const Size& size : sizes) {
    const Value mean = summary(size.cells[rule], quantity);
    series.points.push_back(
        {static_cast<double>(size.n), one_minus ? 1 - mean.number : mean.number, mean.spread > 0 ? mean.spread : 0});
  }
  return series;
}

std::vector<Figure> figures_of(const std::vector<Size>& sizes, const PaperTable& ladder, const PaperTable& one,
                               const PaperTable& four) {
  const char *by_paper = "ours, paper's rule", *by_default = "ours, default";
  const Axis n{"N", true};
  Figure time{"time", "Time to solution", "The paper's figure 1a: GPUs there, this machine here.", n, {"seconds", true}, {}};
  time.series = {{"paper, 1 GPU", Source::paper, one.points("n", "seconds", "seconds_sd")},
                 {"paper, 4 GPUs", Source::paper, four.points("n", "seconds", "seconds_sd")},
                 series_of(sizes, 0, &Cell::seconds, by_paper),
                 series_of(sizes, 1, &Cell::seconds, by_default)};
  const double from = 131072, seconds = one.at(one.row_of("n", from), "seconds"), to = 4194304;
  time.series.push_back({"N²", Source::guide, {{from, seconds}, {to, seconds * std::pow(to / from, 2)}}});

  Figure beta{"bandwidth", "Selected bandwidth", "The paper's figure 1b, with Singer's slope from its first point.",
              n,           {"β", true},          {}};
  const double first = ladder.at(0, "n"), at_first = ladder.at(0, "beta"), singer = paper_number("t6", "singer_exponent");
  beta.series = {{"paper", Source::paper, ladder.points("n", "beta", "beta_sd")},
                 series_of(sizes, 0, &Cell::beta, by_paper),
                 series_of(sizes, 1, &Cell::beta, by_default),
                 {"slope 1/6 (Singer)", Source::guide, {{first, at_first}, {to, at_first * std::pow(to / first, singer)}}}};

  Figure error{"error", "Error of the leading harmonics, 1 − overlap", "The paper's figure 1c.", n, {"1 − overlap", true}, {}};
  Series paper{"paper", Source::paper, ladder.points("n", "overlap", "overlap_sd")};
  for (FigurePoint& point : paper.points) point.y = 1 - point.y;
  error.series = {paper, series_of(sizes, 0, &Cell::overlap, by_paper, true),
                  series_of(sizes, 1, &Cell::overlap, by_default, true)};
  return {time, beta, error};
}

// The paper's mean less its spread, against our runs of its rule.
std::string branch_note(const std::vector<Size>& sizes, const PaperTable& ladder) {
  double worst = 0, own_spread = 0, paper_spread = 0;
  for (const Size& size : sizes) {
    const std::size_t row = ladder.row_of("n", static_cast<double>(size.n));
    if (row == ladder.rows() || !(ladder.at(row, "beta_sd") > 0)) continue;
    const double mean = ladder.at(row, "beta"), deviation = ladder.at(row, "beta_sd");
    const Value ours = mean_of(size.cells[0].beta);
    worst = worse(worst, std::abs(ours.number / (mean - deviation) - 1));
    own_spread = worse(own_spread, ours.spread / ours.number);
    paper_spread = std::max(paper_spread, deviation / mean);
  }
  // What it says of the paper's bars is only to be said where it is seen.
  if (!(paper_spread > 0 && own_spread < 0.1 * paper_spread && worst < 0.03)) return {};
  return fmt::format(
      "By the paper's rule β hardly depends on the draw of the points: its spread is at most {:.1f} %, the paper's up to {:.0f} "
      "%. "
      "The paper's mean less one spread is followed to within {:.1f} % at every size here, and its times (6.0 ± 4.5 s at 2^10) "
      "have "
      "the same form: its bars look like two groups of runs pooled, of which ours are the lower.",
      100 * own_spread, 100 * paper_spread, 100 * worst);
}

void claims(const Setup& setup, Result& result) {
  compare(planned(setup), PaperTable("t6", "ladder"), PaperTable("t6", "one_gpu"), PaperTable("t6", "four_gpus"), result);
}

Result run(const Setup& setup) {
  Result result;
  result.name = "t6";
  result.title = "The flat six-torus: time, bandwidth, recovered harmonics";
  const PaperTable ladder("t6", "ladder"), one("t6", "one_gpu"), four("t6", "four_gpus");
  const std::vector<Size> sizes = measure(setup, result);
  result.tables = {table_of(sizes, ladder, one, four)};
  compare(sizes, ladder, one, four, result);
  result.figures = figures_of(sizes, ladder, one, four);
  result.notes.push_back(
      "Radii 1.00, 1.08, 1.17, 1.27, 1.38, 1.50, padded to 32 columns, α = ½, 3 modes, fp32. Run r draws its angles with seed 42 "
      "+ r. The overlap is the "
      "paper's rotation-invariant score of the two leading right eigenvectors with (cos θ, sin θ) of the largest circle, summed "
      "in blocks in double.");
  result.notes.push_back(
      "The paper's text gives 0.157 twice: as the exponent of the time, where its own figure follows N^2, and as that of β.");
  const std::string note = branch_note(sizes, ladder);
  if (!note.empty()) result.notes.push_back(note);
  const double overlap = mean_of(sizes.back().cells[0].overlap).number;
  if (far_enough_apart(curve(sizes, 0, &Cell::beta)))
    result.answer = fmt::format(
        "N = {} to {}: β ~ N^{:.3f} by the paper's rule and N^{:.3f} by the default (paper N^0.157 for large N, Singer N^0.167); "
        "overlap {:.4f} at the largest N.",
        sizes.front().n, sizes.back().n, exponent_value(curve(sizes, 0, &Cell::beta)).number,
        exponent_value(curve(sizes, 1, &Cell::beta)).number, overlap);
  else
    result.answer =
        fmt::format("N = {}: overlap {:.4f} with the leading harmonics by the paper's rule.", sizes.back().n, overlap);
  return result;
}

}  // namespace
}  // namespace t6

Running declare_t6(CLI::App&) {
  Running running{t6::run, t6::claims};
  running.check = t6::check;
  return running;
}

}  // namespace fd::reproduce
