// solver: what the eigensolver costs in passes, columns and seconds, beside other people's solvers on the same operator.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/error.hpp>

#include "base/random.hpp"
#include "base/team.hpp"
#include "base/worst.hpp"
#include "bench/figures.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/sampled_rows.hpp"
#include "bench/solver_peers.hpp"
#include "bench/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/made_points.hpp"
#include "common/validators.hpp"
#include "fit/rung_solver.hpp"

namespace fd::cli {
namespace {

using Json = nlohmann::ordered_json;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct SolverWish {
  std::vector<std::string> cases = {"torus", "torus-warm", "roll"};
  std::string points, precision = "fp32";
  std::optional<double> beta;
  std::size_t modes = 16, block = 0, threads = 0, peer_passes = 1500, peer_basis = 0;
  double tolerance = 1e-5;
  bool peers = true, json = false;
};

// Points at one bandwidth, and what is asked of them.
struct SolverCase {
  std::string name;
  Table made;                          // of the named cases
  std::unique_ptr<PointSource> given;  // a file's
  double beta = 0;
  std::size_t modes = 0;
  std::vector<double> tolerances;
  bool warm = false;
};

SolverCase named_case(const std::string& name) {
  if (name == "roll") return {name, swiss_roll(4096, true), nullptr, 7.3, 256, {1e-4}};
  if (name == "roll-large") return {name, swiss_roll(20000, true), nullptr, 7.3, 512, {1e-4}};
  if (name == "torus-warm") return {name, torus(4096, 12), nullptr, 0.5, 3, {1e-4}, true};
  return {name, torus(4096, 12), nullptr, 0.5, 3, {1e-4, 1e-6}};
}

SolverCase file_case(const SolverWish& wish) {
  return {wish.points, {}, open_interruptible(wish.points), wish.beta.value(), wish.modes, {wish.tolerance}};
}

// Where a solve of ours begins.
struct Start {
  std::string name = "cold";
  double beta = 0;           // from the modes at this bandwidth
  bool quarter = false;      // from those of every fourth row, extended
  bool values_only = false;  // stops when the eigenvalues are known to a percent, as a probe of the fit does
};

// One case at one tolerance: everything a RungSolver refers to, and the operator for the peers.
class Bench {
 public:
  Bench(const SolverWish& wish, PointSource& source, const PointSummary& summary, const SolverCase& problem, double tolerance)
      : wish_(wish),
        case_(problem),
        tolerance_(tolerance),
        summary_(summary),
        backend_(make_backend({"cpu", "", checked_threads(wish.threads)})),
        space_(*backend_, precision_from_name(wish.precision)),
        watch_(&stopper_),
        context_{*backend_, source, summary_, options_, {}, watch_, journal_} {
    if (case_.modes == 0 || case_.modes >= summary_.rows)
      throw Error(Failure::misuse,
                  fmt::format("-k {}: {} rows have 1 to {} nontrivial modes", case_.modes, summary_.rows, summary_.rows - 1),
                  "choose another number of modes");
    options_.modes = context_.potential.modes = case_.modes;
    options_.tolerance = tolerance;
    options_.block = wish.block;
  }

  Json ours(const Start& start) {
    RungSolver rung(context_, {}, space_.precision());
    std::unique_ptr<RungSolver> smaller;
    if (start.quarter) {
      std::vector<std::size_t> rows;
      for (std::size_t i = 0; i < summary_.rows; i += 4) rows.push_back(i);
      smaller = std::make_unique<RungSolver>(context_, std::move(rows), space_.precision());
      smaller->settle(case_.beta);
    } else if (start.beta > 0) {
      if (start.values_only) rung.probe(start.beta);
      else rung.settle(start.beta);
    }
    Json row = new_row("block Lanczos", start.values_only ? start.name + ", values" : start.name);
    Probe probe;
    std::shared_ptr<Solution> solution;
    std::size_t before = 0;
    row["seconds"] = seconds_of([&] {
      if (smaller) rung.start_from(*smaller);
      before = rung.columns();
      if (start.values_only) probe = rung.probe(case_.beta);
      else solution = rung.solve(case_.beta);
    });
    if (start.values_only) {
      // of a probe only the operator's count is known: the mass, and the degree, which is a pass of its own unless it is also the
      // first of a warm start
      row["passes"] = probe.passes - (start.beta > 0 ? 1 : 2);
      row["columns"] = rung.columns() - before - 2;
      row["converged"] = probe.outcome != "not converged";
      note_last(row, probe.eigenvalues);
      if (known_bias_ > 0) note_figure(row, "value_error", std::abs(probe.v_bias / known_bias_ - 1));
      return row;
    }
    Spectrum& found = solution->spectrum;
    known_bias_ = solution->probe.v_bias;
    row["passes"] = found.passes;
    row["columns"] = found.columns;
    row["converged"] = found.outcome == SolverOutcome::converged;
    note_last(row, found.values);
    if (found.values.empty()) return row;
    const auto modes = static_cast<Eigen::Index>(found.values.size());
    RowMajor vectors(static_cast<Eigen::Index>(summary_.rows), modes);
    backend_->download({*found.vectors, 0, found.values.size()}, vectors.data());
    DiffusionOperator m(space_, rung.points(), case_.beta, options_.alpha, &watch_);
    note_figure(row, "residual", largest_residual(m, Eigen::Map<Eigen::VectorXd>(found.values.data(), modes), vectors));
    return row;
  }

  Json theirs(const Peer& peer) {
    CentredSource source(context_.source, summary_);
    const auto points = backend_->load(source, space_.precision());
    const auto rows = static_cast<Eigen::Index>(summary_.rows);
    PeerProblem problem;
    problem.size = summary_.rows;
    problem.modes = case_.modes;
    const std::size_t usual = std::max<std::size_t>(20, 2 * case_.modes + 1);
    problem.basis = std::min(summary_.rows, wish_.peer_basis > 0 ? std::max(wish_.peer_basis, case_.modes + 2) : usual);
    problem.most_passes = wish_.peer_passes;
    problem.tolerance = tolerance_;
    problem.start.resize(rows);
    for (Eigen::Index i = 0; i < rows; ++i) problem.start(i) = Random(options_.seed, 0).normal(static_cast<std::uint64_t>(i));

    std::unique_ptr<DiffusionOperator> m;
    PeerAnswer answer;
    const double seconds = seconds_of([&] {
      m = std::make_unique<DiffusionOperator>(space_, *points, case_.beta, options_.alpha, &watch_);
      // M - v0 v0^T: the trivial pair is as known to the peers as it is to us
      Eigen::VectorXd trivial(rows);
      backend_->download(m->perron(), trivial.data());
      const auto in = space_.panel(m->layout(), 1), out = space_.panel(m->layout(), 1);
      problem.apply = [&](const double* x, double* y) {
        backend_->upload(x, *in);
        m->apply(*in, *out);
        backend_->download(*out, y);
        Eigen::Map<Eigen::VectorXd>(y, rows) -= trivial.dot(Eigen::Map<const Eigen::VectorXd>(x, rows)) * trivial;
      };
      answer = peer.solve(problem);
    });
    Json row = new_row(peer.name, "cold");
    row["note"] = answer.missing;
    if (!answer.missing.empty()) return row;
    row["passes"] = row["columns"] = answer.passes;
    row["seconds"] = seconds;
    row["converged"] = answer.converged;
    if (answer.values.size() > 0) {
      note_figure(row, "residual", largest_residual(*m, answer.values, answer.vectors));
      note_figure(row, "last_value", answer.values(answer.values.size() - 1));
    }
    return row;
  }

 private:
  Json new_row(const std::string& solver, const std::string& start) const {
    return {{"case", case_.name}, {"solver", solver},      {"n", summary_.rows},      {"dimension", summary_.varying.size()},
            {"beta", case_.beta}, {"modes", case_.modes},  {"tolerance", tolerance_}, {"start", start},
            {"passes", nullptr},  {"columns", nullptr},    {"seconds", nullptr},      {"residual", nullptr},
            {"converged", false}, {"last_value", nullptr}, {"value_error", nullptr},  {"note", ""}};
  }

  // A figure that is no number belies whatever the solver said of itself.
  static void note_figure(Json& row, const char* name, double value) {
    row[name] = figure(value);
    if (std::isfinite(value)) return;
    row["converged"] = false;
    row["note"] = fmt::format("{} is not a number", name);
  }

  static void note_last(Json& row, const std::vector<double>& values) {
    note_figure(row, "last_value", values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.back());
  }

  // |M v - lambda v| with a fresh product and sums in fp64. Rows are in the panels' order.
  double largest_residual(DiffusionOperator& m, const Eigen::VectorXd& values, const RowMajor& vectors) {
    constexpr Eigen::Index width = 32;
    double largest = 0;
    for (Eigen::Index first = 0; first < values.size(); first += width) {
      const Eigen::Index count = std::min(width, values.size() - first);
      const RowMajor some = vectors.middleCols(first, count).colwise().normalized();
      RowMajor image(some.rows(), count);
      const auto in = space_.panel(m.layout(), static_cast<std::size_t>(count)),
                 out = space_.panel(m.layout(), static_cast<std::size_t>(count));
      backend_->upload(some.data(), *in);
      m.apply(*in, *out);
      backend_->download(*out, image.data());
      image -= some * values.segment(first, count).asDiagonal();
      for (Eigen::Index c = 0; c < count; ++c) largest = worse(largest, image.col(c).norm());
    }
    return largest;
  }

  const SolverWish& wish_;
  const SolverCase& case_;
  double tolerance_;
  const PointSummary& summary_;
  std::unique_ptr<Backend> backend_;
  Space space_;
  Options options_;
  InterruptObserver stopper_;
  ProgressWatch watch_;
  Journal journal_;
  FitContext context_;
  double known_bias_ = 0;  // median of -log(lambda), from the last solve to a residual
};

std::vector<Start> starts(const SolverCase& problem) {
  if (!problem.warm) return {{}};
  const double beta = problem.beta;
  return {{"beta/1.1", beta / 1.1},
          {"beta/2", beta / 2},
          {"N/4 rows", 0, true},
          {"cold", 0, false, true},
          {"beta/2", beta / 2, false, true},
          {"beta/1.1", beta / 1.1, false, true}};
}

constexpr const char* solver_layout = "{:<11} {:<14} {:>7} {:>4} {:>6} {:>4} {:>6} {:<17} {:>6} {:>7} {:>8} {:>9} {:>9}  {}\n";

void print_solver_header(const Json& machine) {
  print_result(machine.dump() + "\n");
  print_result(fmt::format(solver_layout, "case", "solver", "n", "D", "beta", "k", "tol", "start", "passes", "columns", "seconds",
                           "residual", "lambda_k", "converged"));
}

void print_solver_row(const Json& row) {
  std::string state = row["note"];
  if (state.empty()) state = row["converged"].get<bool>() ? "yes" : "no";
  if (!row["value_error"].is_null()) state += figure_text(row["value_error"], ", values to {:.1e}");
  print_result(fmt::format(solver_layout, row["case"].get<std::string>(), row["solver"].get<std::string>(),
                           row["n"].get<std::size_t>(), row["dimension"].get<std::size_t>(), figure_text(row["beta"], "{:.4g}"),
                           row["modes"].get<std::size_t>(), figure_text(row["tolerance"], "{:.0e}"),
                           row["start"].get<std::string>(), figure_text(row["passes"], "{:.0f}"),
                           figure_text(row["columns"], "{:.0f}"), figure_text(row["seconds"], "{:.3f}"),
                           figure_text(row["residual"], "{:.1e}"), figure_text(row["last_value"], "{:.6f}"), state));
}

// The library knows rows and columns of points it cannot use, not where they came from.
PointSummary summarise_named(PointSource& source, const std::string& name) {
  try {
    return summarise(source, {Precision::fp32});
  } catch (const Error& error) {
    if (error.kind() != Failure::input) throw;
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()), error.hint());
  }
}

int run_solver(const SolverWish& wish) {
  std::vector<std::string> names = wish.cases;
  if (!wish.points.empty()) names = {wish.points};
  if (wish.beta && !(*wish.beta > 0 && std::isfinite(*wish.beta)))
    throw Error(Failure::misuse, fmt::format("--beta {}: must be a finite number above zero", *wish.beta),
                "the kernel is exp(-beta |x - y|^2)");
  if (!(wish.tolerance > 0))
    throw Error(Failure::misuse, fmt::format("--tolerance {}: must be above zero", wish.tolerance), "1e-5 is the default");
  Options machine;
  machine.backend = "cpu";
  machine.threads = checked_threads(wish.threads);
  Json document = {{"machine", machine_json(machine)}, {"rows", Json::array()}};
  std::vector<Peer> peers;
  if (wish.peers) peers = solver_peers(Team(machine.threads).threads());
  const auto add = [&](Json row) {
    if (!wish.json) {
      if (document["rows"].empty()) print_solver_header(document["machine"]);
      print_solver_row(row);
    }
    document["rows"].push_back(std::move(row));
  };
  for (const std::string& name : names) {
    const SolverCase problem = wish.points.empty() ? named_case(name) : file_case(wish);
    ViewSource view(problem.made.view());
    PointSource& source = problem.given ? *problem.given : view;
    const PointSummary summary = summarise_named(source, name);
    for (const double tolerance : problem.tolerances) {
      Bench bench(wish, source, summary, problem, tolerance);
      for (const Start& start : starts(problem)) add(bench.ours(start));
      if (problem.warm) continue;  // the peers begin from one vector, not from a subspace
      for (const Peer& peer : peers) add(bench.theirs(peer));
    }
  }
  if (wish.json) print_result(document.dump(2) + "\n");
  const bool broken = std::any_of(document["rows"].begin(), document["rows"].end(),
                                  [](const Json& row) { return row["note"].get<std::string>().ends_with("not a number"); });
  return broken ? numbers : done;
}

constexpr const char* solver_footer =
    R"(All solvers see the same operator of the cpu back-end, M = diag(s) K diag(s) with alpha = 1/2, in the same run. The trivial
pair is known to all: ours locks it out, the peers are given M - v0 v0^T. The peers' relative stopping rule is made ours, an absolute
bound on the residual. They multiply one vector a pass.
  passes     applications of M. Not counted: the sweeps for mass and degree (but a warm start's first pass, which makes the degree
             too, is), and the rectangular sweep that extends modes from N/4 rows
  columns    vectors times passes
  seconds    from the loaded points: mass, degree and, for N/4 rows, the extension are included
  residual   the largest |M v - lambda v| of the k pairs, measured again with a fresh product
  values     a start that stops when the median of -log(lambda) is known to a percent, as probes of a fit do; no residual is asked
             for, and the median's error, relative to the solves above it, is shown instead
Cases: torus (T^6, N = 4096, k = 3), torus-warm (the same from carried modes), roll (Swiss roll, N = 4096, k = 256), roll-large
(N = 20000, k = 512).
Peers: ARPACK and Spectra, where they were found at build time (Debian: libarpack2-dev, libspectra-dev). There is no LOBPCG: Debian 12
has no PRIMME, Spectra's takes only stored sparse matrices, and those of hypre and SLEPc want MPI.

Examples:
  flashdiffusion-bench solver
  flashdiffusion-bench solver --case torus --no-peers --json
  flashdiffusion-bench solver --points points.npy --beta 0.45 -k 8 --tolerance 1e-5)";

}  // namespace

Action declare_solver(CLI::App& app, const std::vector<std::string>&) {
  auto wish = std::make_shared<SolverWish>();
  auto* cases = app.add_option("--case", wish->cases, "which problems, a comma list")
                    ->delimiter(',')
                    ->check(CLI::IsMember({"torus", "torus-warm", "roll", "roll-large"}))
                    ->type_name("")
                    ->capture_default_str();
  auto* points = app.add_option("--points", wish->points, "a file of points instead")->type_name("FILE")->excludes(cases);
  auto* beta = app.add_option("--beta", wish->beta, "its bandwidth")->check(real_number)->type_name("B")->needs(points);
  points->needs(beta);
  app.add_option("-k,--modes", wish->modes, "its number of modes")
      ->check(whole_number)
      ->type_name("K")
      ->capture_default_str()
      ->needs(points);
  app.add_option("--tolerance", wish->tolerance, "its largest residual")
      ->check(real_number)
      ->type_name("T")
      ->capture_default_str()
      ->needs(points);
  app.add_option("--block", wish->block, "vectors a pass of ours; 0: chosen as fit does")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--peers,!--no-peers", wish->peers, "also run the peers (default), or only ours");
  app.add_option("--peer-passes", wish->peer_passes, "passes after which a peer gives up")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--peer-basis", wish->peer_basis, "vectors a peer keeps; 0: 2 K + 1, at least 20")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--precision", wish->precision, "fp32 or fp64")->type_name("P")->capture_default_str();
  app.add_option("--threads", wish->threads, "0: all cores")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_flag("--json", wish->json, "one JSON document");
  app.footer(solver_footer);
  return [wish] { return run_solver(*wish); };
}

}  // namespace fd::cli
