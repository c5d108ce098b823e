// reproduce knn: what a graph of nearest neighbours keeps of the kernel on the paper's Swiss roll (appendix A): row mass, the negative
// spectrum that the mask makes, and how far the leading modes of the graph's operator are those of the dense one.
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/support.hpp>

#include "analysis/neighbour_graph.hpp"
#include "analysis/subspace_overlap.hpp"
#include "base/team.hpp"
#include "common/interrupt.hpp"
#include "common/swiss_roll.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

using Eigen::MatrixXd;

constexpr std::size_t more_rows = 5;  // than the paper averages over: the spread that is left is the paper's
constexpr double dense_bound =
    1e-9;  // rounding of a Cholesky factor of 3,000 rows with diagonal 1: 3000 x 1.1e-16 a pivot, times a few
constexpr std::uint32_t paper_seed = 1;  // of table 2: numpy.random.default_rng(1) gives it, to its rounding

// Sizes of the parts. A dense spectrum costs n^3: the quick form takes fewer rows, at the bandwidth of the paper's law for them.
struct Plan {
  std::size_t mass_rows, mass_draws;
  std::size_t spectrum_rows, spectrum_draws;
  std::size_t mode_rows;
  std::vector<std::size_t> mode_neighbours;
};

Plan plan_of(const Setup& setup) {
  const std::size_t draws = setup.seeds > 0 ? setup.seeds : setup.quick ? 1 : 5;
  const std::size_t dense_draws = std::min<std::size_t>(draws, 3);
  if (setup.quick) return {200000, draws, 700, dense_draws, 500, {16, 64, 256}};
  return {200000, draws, 3000, dense_draws, 1000, {16, 32, 64, 128, 256, 512}};
}

Table drawn(std::size_t n, std::uint32_t seed) {
  cli::SwissRoll roll(n, seed);
  Table points(n, 3, true);
  points.visit([&](auto& values) {
    std::vector<double> rows(3 * n);
    roll.read(0, n, rows.data());
    std::copy(rows.begin(), rows.end(), values.begin());
  });
  return points;
}

// ---- retained row mass

struct Masses {
  std::vector<std::vector<double>> share;  // of each k, a draw each, in percent
  std::vector<std::vector<double>> error;  // standard error of its mean over the sampled rows
  std::vector<double> c2, departure;
};

Masses measure_masses(const Setup& setup, const Plan& plan, const PaperTable& table) {
  Masses masses{std::vector<std::vector<double>>(table.rows()), std::vector<std::vector<double>>(table.rows()), {}, {}};
  SupportOptions options;
  options.neighbours.clear();
  options.tolerances.clear();
  options.rows = more_rows * static_cast<std::size_t>(paper_number("knn", "rows_averaged"));
  options.threads = setup.threads;
  options.observer = setup.observer;
  for (std::size_t i = 0; i < table.rows(); ++i) options.neighbours.push_back(static_cast<std::size_t>(table.at(i, "k")));
  for (std::size_t draw = 0; draw < plan.mass_draws; ++draw) {
    setup.begin(fmt::format("knn, row mass, draw {} of {}", draw + 1, plan.mass_draws));
    cli::SwissRoll roll(plan.mass_rows, paper_seed + static_cast<std::uint32_t>(draw), setup.threads);
    options.seed = draw;
    const KernelSupport support = kernel_support(roll, paper_number("knn", "beta"), options);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      masses.share[i].push_back(100 * support.masses[i].share.mean);
      masses.error[i].push_back(100 * support.masses[i].share.error);
    }
    masses.c2.push_back(support.c2);
    masses.departure.push_back(100 * support.c2_departure);
  }
  return masses;
}

void report_masses(const Masses& masses, const PaperTable& table, Result& result) {
  ResultTable out{"row_mass",
                  "Share of a row's kernel mass in its k nearest neighbours, itself among them; N = 200,000, β = 8.75. Ours: "
                  "means over draws "
                  "of points and of 2,000 rows, ± the spread of a mean over 400 rows, as the paper takes it.",
                  {{"k"}, {"paper", "%"}, {"ours", "%"}, {"1−exp(−c₂k), paper", "%"}, {"1−exp(−c₂k), ours", "%"}},
                  {}};
  const Value c2 = mean_of(masses.c2);
  Figure figure{"row-mass",
                "Row mass that k neighbours retain",
                "The paper's table 1, with the law 1 − exp(−c₂k) fitted to ours.",
                {"k", true},
                {"retained, %", true},
                {}};
  figure.series.push_back({"paper", Source::paper, table.points("k", "retained_percent"), false});
  Series ours{"ours", Source::ours, {}, false}, law{"1 − exp(−c₂k)", Source::guide, {}};
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const double k = table.at(i, "k"), fitted = -100 * std::expm1(-c2.number * k);
    const Value share = mean_of(masses.share[i]), error = mean_of(masses.error[i]);
    // A mean over 400 rows, as the paper's, has this spread; ours is known better by the root of how many more rows it has.
    const double spread = error.number * std::sqrt(static_cast<double>(more_rows));
    const double draws = static_cast<double>(masses.share[i].size() * more_rows);
    const Value paper(table.at(i, "retained_percent"));
    out.rows.push_back({k, paper, Value(share.number, spread), table.at(i, "fitted_percent"), fitted});
    ours.points.push_back({k, share.number, spread});
    result.comparisons.push_back(
        compared(fmt::format("row mass retained by k = {:.0f}, %", k), table.where(), paper, Value(share.number, spread),
                 0.05 + 2 * std::hypot(spread, spread / std::sqrt(draws)),
                 "within twice the spread of a mean over 400 rows, and the paper's rounding",
                 fmt::format("ours is {:.1f} such spreads {}", std::abs(share.number - paper.number) / spread,
                             share.number < paper.number ? "below" : "above")));
  }
  for (double k = 32; k <= 1024; k *= 1.2) law.points.push_back({k, -100 * std::expm1(-c2.number * k)});
  figure.series.push_back(std::move(ours));
  figure.series.push_back(std::move(law));
  result.comparisons.push_back(compared("c₂ of the law 1 − exp(−c₂k)", paper_place("knn", "c2"), paper_number("knn", "c2"), c2,
                                        0.05e-4 + 2 * std::max(c2.spread > 0 ? c2.spread : 0, 0.02 * c2.number),
                                        "within twice the spread of a draw, taken as 2 % at least, and the paper's rounding",
                                        c2.number < paper_number("knn", "c2")
                                            ? "ours is smaller: more neighbours hold the same mass"
                                            : "ours is larger: fewer neighbours hold the same mass"));
  const double departure = mean_of(masses.departure).number;
  result.comparisons.push_back(stated("the law reproduces the retained shares to about 0.3 %", paper_place("knn", "fit_error"),
                                      100 * paper_number("knn", "fit_error"), departure, departure <= 0.5,
                                      "off by at most 0.5 percentage points at every k",
                                      "one exponential is too few for these shares"));
  result.tables.push_back(std::move(out));
  result.figures.push_back(std::move(figure));
}

// ---- the spectrum of the masked kernel

struct MaskedSpectrum {
  double kernel_least = std::nan(""), negative = std::nan(""), mask_least = std::nan("");
};

struct Spectra {
  double beta = 0;
  bool dense_is_positive = false;                  // no eigenvalue of the whole kernel below -dense_bound
  std::vector<std::vector<MaskedSpectrum>> draws;  // [draw][k]
};

Spectra measure_spectra(const Setup& setup, const Plan& plan, const PaperTable& table) {
  Spectra spectra;
  spectra.beta = plan.spectrum_rows == static_cast<std::size_t>(paper_number("knn", "psd_n"))
                     ? paper_number("knn", "psd_beta")
                     : paper_roll_beta(plan.spectrum_rows);
  Team team(setup.threads);
  for (std::size_t draw = 0; draw < plan.spectrum_draws; ++draw) {
    setup.begin(fmt::format("knn, spectra of masked kernels, draw {} of {}", draw + 1, plan.spectrum_draws));
    const Table points = drawn(plan.spectrum_rows, paper_seed + static_cast<std::uint32_t>(draw));
    const NeighbourGraph graph(points.view(), spectra.beta, static_cast<std::size_t>(table.at(table.rows() - 1, "k")));
    std::vector<MaskedSpectrum> row(table.rows());
    const std::size_t tasks = table.rows() + (draw == 0 ? 1 : 0);
    team.run(
        tasks,
        [&](std::size_t task, int) {
          if (task == table.rows()) {
            spectra.dense_is_positive = no_eigenvalue_below(graph.kernel(), -dense_bound);
            return;
          }
          const auto k = static_cast<std::size_t>(table.at(task, "k"));
          row[task].mask_least = least_eigenvalue(graph.mask(k));
          const auto values = symmetric_spectrum(graph.kernel(k));
          row[task].kernel_least = values(0);
          row[task].negative = 100 * negative_mass(values);
        },
        [] { cli::throw_if_interrupted(); });
    spectra.draws.push_back(std::move(row));
  }
  return spectra;
}

Value over_draws(const Spectra& spectra, std::size_t row, double MaskedSpectrum::*figure) {
  std::vector<double> values;
  for (const auto& draw : spectra.draws) values.push_back(draw[row].*figure);
  return mean_of(values);
}

bool always_indefinite(const Spectra& spectra) {
  for (const auto& draw : spectra.draws)
    for (const auto& row : draw)
      if (!(row.kernel_least < -1e-6)) return false;
  return true;
}

void compare_spectra(const Spectra& spectra, const PaperTable& table, Result& result) {
  const struct {
    const char *claim, *column;
    double MaskedSpectrum::*figure;
    double rounding;  // half of the paper's last digit and a fiftieth of that: a number at the half is rounded either way
  } figures[] = {{"λ_min of the masked kernel, k = {:.0f}", "lambda_min", &MaskedSpectrum::kernel_least, 0.005 + 1e-4},
                 {"negative spectral mass, k = {:.0f}, %", "negative_mass_percent", &MaskedSpectrum::negative, 0.05 + 1e-3},
                 {"λ_min of the mask, k = {:.0f}", "lambda_min_mask", &MaskedSpectrum::mask_least, 0.005 + 1e-4}};
  for (std::size_t i = 0; i < table.rows(); ++i)
    for (const auto& figure : figures) {
      const double paper = table.at(i, figure.column), own = spectra.draws[0][i].*figure.figure;
      const Value all = over_draws(spectra, i, figure.figure);
      result.comparisons.push_back(
          compared(fmt::format(fmt::runtime(figure.claim), table.at(i, "k")), table.where(), paper, own, figure.rounding,
                   "the paper's own draw (numpy seed 1), to half of the paper's last digit and a fiftieth of that",
                   all.spread > 0 ? fmt::format("over {} draws {:.4g} ± {:.2g}", spectra.draws.size(), all.number, all.spread)
                                  : std::string()));
    }
}

void report_spectra(const Spectra& spectra, const Plan& plan, const PaperTable& table, Result& result) {
  const bool as_paper = plan.spectrum_rows == static_cast<std::size_t>(paper_number("knn", "psd_n"));
  ResultTable out{"spectrum",
                  fmt::format("Smallest eigenvalues and negative spectral mass of the kernel masked by a union of k neighbours "
                              "each; N = {}, β = {:.4g}. "
                              "First draw: numpy seed 1{}.",
                              plan.spectrum_rows, spectra.beta, as_paper ? ", the paper's own" : "; the paper has N = 3000"),
                  {{"k"},
                   {"λ_min paper"},
                   {"λ_min, first draw"},
                   {"λ_min, all draws"},
                   {"negative mass paper", "%"},
                   {"negative mass, first draw", "%"},
                   {"negative mass, all draws", "%"},
                   {"λ_min of mask, paper"},
                   {"λ_min of mask, first draw"},
                   {"λ_min of mask, all draws"}},
                  {}};
  Figure figure{
      "negative-spectrum", "Smallest eigenvalue of the masked kernel", "The paper's table 2.", {"k", true}, {"λ_min"}, {}};
  Figure mass{
      "negative-mass", "Negative spectral mass", "The paper's table 2; the dense kernel has none.", {"k", true}, {"%"}, {}};
  Series least{as_paper ? "ours, all draws" : fmt::format("ours, N = {}", plan.spectrum_rows), Source::ours, {}},
      negative = least;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const double k = table.at(i, "k");
    const auto& first = spectra.draws[0][i];
    const Value kernel = over_draws(spectra, i, &MaskedSpectrum::kernel_least),
                share = over_draws(spectra, i, &MaskedSpectrum::negative);
    out.rows.push_back({k, table.at(i, "lambda_min"), first.kernel_least, kernel, table.at(i, "negative_mass_percent"),
                        first.negative, share, table.at(i, "lambda_min_mask"), first.mask_least,
                        over_draws(spectra, i, &MaskedSpectrum::mask_least)});
    least.points.push_back({k, kernel.number, kernel.spread > 0 ? kernel.spread : 0});
    negative.points.push_back({k, share.number, share.spread > 0 ? share.spread : 0});
  }
  figure.series = {{"paper", Source::paper, table.points("k", "lambda_min")}, least};
  mass.series = {{"paper", Source::paper, table.points("k", "negative_mass_percent")}, negative};
  if (as_paper) compare_spectra(spectra, table, result);
  else
    result.comparisons.push_back(
        unmeasured("the cells of table 2", table.where(), "N = 3000",
                   fmt::format("the quick form has N = {}; without --quick they are compared one by one", plan.spectrum_rows)));
  const bool all_negative = always_indefinite(spectra);
  result.comparisons.push_back(stated("masking makes the kernel indefinite", table.where(), "λ_min < 0 at every k",
                                      all_negative ? "λ_min < 0 at every k" : "not at every k", all_negative,
                                      "λ_min below −1e-6 at every k and draw: far beyond rounding"));
  result.comparisons.push_back(
      stated("the dense kernel is positive semidefinite", "appendix A.4", "λ_min ≥ 0",
             spectra.dense_is_positive ? "λ_min > −1e-9" : "λ_min < −1e-9", spectra.dense_is_positive,
             "K + 10^-9 has a Cholesky factor; eigenvalues of the smooth kernel fall below the rounding of double precision"));
  result.tables.push_back(std::move(out));
  result.figures.push_back(std::move(figure));
  result.figures.push_back(std::move(mass));
}

// ---- leading modes

Functions leading(const MatrixXd& modes, std::size_t count) {
  return {count, [&modes, count](std::size_t row, double* values) {
            for (std::size_t j = 0; j < count; ++j)
              values[j] = modes(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(j));
          }};
}

constexpr std::size_t mode_counts[] = {3, 16, 64};

// Of a graph of k neighbours.
struct KeptModes {
  double overlap[std::size(mode_counts)], retained;  // with the dense modes; of the row mass, %
};

std::vector<KeptModes> measure_modes(const Setup& setup, const Plan& plan) {
  const std::size_t n = plan.mode_rows, kinds = plan.mode_neighbours.size();
  const double beta = paper_roll_beta(n);
  const Table points = drawn(n, paper_seed);
  const NeighbourGraph graph(points.view(), beta, plan.mode_neighbours.back());
  std::vector<MatrixXd> modes(kinds + 1);
  Team team(setup.threads);
  setup.begin("knn, modes of neighbour graphs");
  team.run(
      kinds + 1,
      [&](std::size_t i, int) {
        modes[i] = dense_modes(i < kinds ? graph.kernel(plan.mode_neighbours[i]) : graph.kernel(), 0.5, mode_counts[2]);
      },
      cli::throw_if_interrupted);
  std::vector<KeptModes> kept(kinds);
  for (std::size_t i = 0; i < kinds; ++i) {
    for (std::size_t c = 0; c < std::size(mode_counts); ++c)
      kept[i].overlap[c] = subspace_overlap(n, leading(modes[i], mode_counts[c]), leading(modes[kinds], mode_counts[c]));
    const MatrixXd masked = graph.kernel(plan.mode_neighbours[i]);
    kept[i].retained = 100 * masked.rowwise().sum().cwiseQuotient(graph.kernel().rowwise().sum()).mean();
  }
  return kept;
}

void report_modes(const std::vector<KeptModes>& kept, const Plan& plan, Result& result) {
  ResultTable out{"modes",
                  fmt::format("Overlap of the leading modes of the k-neighbour operator (α = ½) with those of the dense one, 1 "
                              "where they span the same; "
                              "N = {}, β = {:.4g}.",
                              plan.mode_rows, paper_roll_beta(plan.mode_rows)),
                  {{"k"}, {"3 modes"}, {"16 modes"}, {"64 modes"}, {"row mass retained", "%"}},
                  {}};
  Figure figure{
      "modes",
      "Leading modes of a neighbour graph against the dense ones",
      "Overlap of the spans of the leading 3, 16 and 64 modes with those of the dense operator; 1 where they are the same.",
      {"k", true},
      {"overlap", false, 0, 1.05},
      {}};
  for (const std::size_t count : mode_counts) figure.series.push_back({fmt::format("{} modes", count), Source::ours, {}});
  std::size_t coarser = 0, truncated = 0;  // where the mask takes a tenth of the mass or more
  std::string overlaps;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto& [overlap, retained] = kept[i];
    const auto k = static_cast<double>(plan.mode_neighbours[i]);
    out.rows.push_back({k, overlap[0], overlap[1], overlap[2], retained});
    for (std::size_t c = 0; c < std::size(mode_counts); ++c) figure.series[c].points.push_back({k, overlap[c]});
    if (!(retained < 90)) continue;
    ++truncated;
    coarser += overlap[0] > overlap[2] ? 1 : 0;
    overlaps += fmt::format("{}k = {:.0f}: {:.3f} and {:.3f}", i == 0 ? "" : "; ", k, overlap[0], overlap[2]);
  }
  result.comparisons.push_back(
      stated("the first few modes survive truncation better than a larger basis (overlap of 3 and of 64 modes)",
             "appendix A, first paragraphs", "they do", overlaps, truncated > 0 && coarser == truncated,
             "at every k that keeps less than 90 % of the row mass",
             "a graph of few neighbours may bring new slow modes among the first, and change their order; a larger span still "
             "holds them"));
  result.tables.push_back(std::move(out));
  result.figures.push_back(std::move(figure));
}

void claims_of_knn(const Setup& setup, Result& result) {
  const Plan plan = plan_of(setup);
  const PaperTable row_mass("knn", "row_mass"), psd("knn", "psd");
  report_masses({std::vector<std::vector<double>>(row_mass.rows()), std::vector<std::vector<double>>(row_mass.rows()), {}, {}},
                row_mass, result);
  report_spectra({0, false, {std::vector<MaskedSpectrum>(psd.rows())}}, plan, psd, result);
  report_modes({}, plan, result);
}

Result run_knn(const Setup& setup) {
  Result result;
  result.name = "knn";
  result.title = "What a nearest-neighbour graph keeps";
  const Plan plan = plan_of(setup);
  const PaperTable row_mass("knn", "row_mass"), psd("knn", "psd");
  const Masses masses = measure_masses(setup, plan, row_mass);
  report_masses(masses, row_mass, result);
  const Spectra spectra = measure_spectra(setup, plan, psd);
  report_spectra(spectra, plan, psd, result);
  report_modes(measure_modes(setup, plan), plan, result);
  const Tally tally = tally_of(result.comparisons);
  result.answer = fmt::format(
      "{} of {} measured cells and claims agree with the paper. At its bandwidth {:.0f} neighbours hold {:.1f} % of a row's "
      "kernel "
      "mass{}.",
      tally.agrees, tally.measured(), row_mass.at(1, "k"), mean_of(masses.share[1]).number,
      always_indefinite(spectra) ? ", and every mask makes the kernel indefinite" : "");
  result.notes.push_back(
      "Points are drawn by NumPy's generator, which this program has too: seed 1 gives the paper's table 2, to its rounding.");
  if (plan.spectrum_draws < plan.mass_draws)
    result.notes.push_back(fmt::format("{} draws for the row mass; for dense spectra, which cost N^3 each, {}.", plan.mass_draws,
                                       plan.spectrum_draws));
  result.notes.push_back(
      "Spectra are dense eigen-decompositions in double precision; masks leave the diagonal in place and take k neighbours "
      "besides it.");
  return result;
}

}  // namespace

Running declare_knn(CLI::App&) { return {run_knn, claims_of_knn}; }

}  // namespace fd::reproduce
