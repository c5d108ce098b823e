#include "fit/rung_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/median.hpp"
#include "fit/far_groups.hpp"
#include "fit/forecast.hpp"
#include "solver/plan.hpp"

namespace fd {
namespace {

// The largest Rayleigh quotients of unit vectors with the trivial mode taken out, (M_ii - pi_i) / (1 - pi_i): one of them next to 1 is a row
// that sees only itself, which proves the Perron wall before any pass of a solve.
std::vector<double> rows_by_themselves(const DiffusionOperator& m, const Options& options) {
  double total = 0;
  for (const double degree : m.degree()) total += degree;
  std::vector<double> quotient(m.degree().size());
  for (std::size_t i = 0; i < quotient.size(); ++i) {
    if (m.degree()[i] == 0) continue;  // set aside
    const double share = m.degree()[i] / total;
    quotient[i] = (std::pow(m.mass()[i], -2 * options.alpha) / m.degree()[i] - share) / (1 - share);
  }
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(options.modes, quotient.size()));
  std::partial_sort(quotient.begin(), quotient.begin() + wanted, quotient.end(), std::greater<>());
  quotient.resize(static_cast<std::size_t>(wanted));
  return quotient;
}

// Points were checked when they were read, so this is the machine's doing or a fault of the program.
Error not_finite(double beta) {
  return {Failure::device, fmt::format("a kernel product at beta = {:.5g} gave numbers that are not finite", beta),
          "run flashdiffusion selftest; try another instruction set (FLASHDIFFUSION_ISA=scalar)"};
}

constexpr double carried_tolerance = 1e-3;  // an extension to other rows is no better than this

// Of fp64 and fp32 sums; the kernel of tf32 and bf16 is less precise but always the same.
double rounding_of_sums(Precision precision) { return traits(precision).wide_panels ? 1e-15 : 3e-7; }

}  // namespace

static void archive(Archive& archive, Probe& p) {
  archive(p.n, p.precision, p.beta, p.s_off, p.s_off_2beta, p.n_eff, p.d_hat, p.perron_gap, p.v_bias, p.v_stat, p.v_mach, p.v,
          p.localised, p.aside, p.passes, p.seconds, p.outcome, p.eigenvalues);
}

RungSolver::RungSolver(FitContext& context, std::vector<std::size_t> rows, Precision precision)
    : context_(context),
      source_(std::make_unique<CentredSource>(context.source, context.summary, std::move(rows))),
      points_(context.backend.load(*source_, precision)),
      space_(context.backend, precision) {}

std::vector<double> RungSolver::supports(Panel& vectors, std::size_t modes) {
  constexpr std::size_t some = 4;  // columns on the host at a time
  std::vector<double> host(size() * std::min(some, modes)), fourth(modes, 0.0), second(modes, 0.0);
  for (std::size_t first = 0; first < modes; first += some) {
    const std::size_t count = std::min(some, modes - first);
    context_.backend.download({vectors, first, count}, host.data());
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < count; ++j) {
        const double square = host[i * count + j] * host[i * count + j];
        second[first + j] += square;
        fourth[first + j] += square * square;
      }
  }
  std::vector<double> support(modes);
  for (std::size_t j = 0; j < modes; ++j) support[j] = fourth[j] > 0 ? second[j] * second[j] / fourth[j] : 0;
  return support;
}

// Whether half of the wanted eigenvalues are next to nothing, as at bandwidths far too broad for what lies within distant groups: M v is then a sum
// of terms so much larger that its rounding is a share of the mode, 1e-4 and more.
bool RungSolver::lost_in_rounding(const std::vector<double>& values) const {
  const std::size_t modes = context_.options.modes;
  return values.size() >= modes && values[modes / 2] < 1e4 * rounding_of_sums(precision());
}

// Near settled modes a probe needs the wanted ones and a few beside them. Once eigenvalues have grown out of rounding a probe begins anew: modes that
// come from there, and the bandwidth that they lead to, would depend on how sums were rounded.
Columns RungSolver::start(Purpose purpose) const {
  const std::size_t modes = context_.options.modes;
  if (purpose == Purpose::probe && state_.from_rounding && !lost_in_rounding(state_.latest.values)) return {};
  if (purpose == Purpose::probe && state_.settled.psi)
    return {*state_.settled.psi, 0, std::min(state_.settled.psi->columns(), modes + carried_beyond(modes, 3))};
  return state_.modes.psi ? Columns(*state_.modes.psi) : Columns();
}

std::shared_ptr<Solution> RungSolver::run(double beta, Purpose purpose) {
  static constexpr const char* names[] = {"probe", "settle", "solve"};
  auto solution = std::make_shared<Solution>();
  context_.journal.step(
      fmt::format("{} of {} rows in {} at beta {}", names[static_cast<int>(purpose)], size(), traits(precision()).name, beta),
      *this, [&] { make(beta, purpose, *solution); },
      [&](Archive& archive) {
        Spectrum& spectrum = solution->spectrum;
        archive(solution->probe, spectrum.values, spectrum.residuals, spectrum.outcome, spectrum.latest, spectrum.passes,
                spectrum.columns, solution->perron_residual, solution->support);
        if (purpose != Purpose::solve) return;
        context_.journal.hold<Solution>(solution, [this](Archive& large, Solution& held) {
          large(held.q, held.d, held.stays);
          space_.archive(large, points_->layout(), held.spectrum.vectors);
        });
      });
  return solution;
}

SolverOptions RungSolver::solver_options(Purpose purpose) const {
  const Options& options = context_.options;
  const bool wide = traits(precision()).wide_panels;
  const SolverPlan plan = plan_solver(options.modes, size(), wide ? 8 : 4, options.block, options.basis,
                                      context_.backend.keeps_as_a_rule(size(), points_->dimension(), precision()));
  SolverOptions solver;
  solver.modes = options.modes;
  solver.carry = options.beta && !options.drop_localised ? 0 : carried_beyond(options.modes);  // no other solve follows
  solver.block = plan.block;
  solver.basis = plan.basis;
  solver.most_passes = most_solver_passes(options, plan.block);
  solver.tolerance = purpose == Purpose::settle ? carried_tolerance : options.tolerance;
  solver.floor = rounding_of_sums(precision());
  solver.values_only = purpose == Purpose::probe;
  solver.latest = state_.share;
  solver.seed = options.seed;
  if (purpose != Purpose::solve) {
    solver.ceiling = 1 - wall_gap(precision(), context_.potential);
    solver.ceiling_index = context_.most_components() - 1;
  }
  solver.progress = [&watch = context_.watch](const SolverState& state) { watch.now().converged = state.converged; };
  solver.keeper = context_.journal.keeper();
  return solver;
}

Spectrum RungSolver::spectrum_of(DiffusionOperator& m, const SolverOptions& solver, Archive* unfinished) {
  context_.journal.set_solve_prefix([&m](Archive& archive) { m.archive(archive); });
  Spectrum spectrum = unfinished != nullptr ? resume_block_lanczos(space_, m, solver, m.perron().panel, *unfinished)
                                            : block_lanczos(space_, m, solver, m.perron().panel, m.start(), m.start_image());
  context_.journal.set_solve_prefix({});
  m.forget_start();
  return spectrum;
}

void RungSolver::make(double beta, Purpose purpose, Solution& solution) {
  const auto started = std::chrono::steady_clock::now();
  const Options& options = context_.options;
  const bool solves = purpose == Purpose::solve;
  ProgressWatch& watch = context_.watch;
  watch.stage(solves ? "solve" : "probe", size(), beta, options.modes);
  watch.expect(0.5 * static_cast<double>(size()) * static_cast<double>(size()));

  const std::vector<char>& kept = state_.treatment.kept;
  const RowRule rule{state_.treatment.most_return, most_rows_aside(), kept.empty() ? nullptr : &kept, !solves};
  const Columns first = start(purpose);
  const std::unique_ptr<ArchiveReader> unfinished = context_.journal.unfinished_solve();
  const auto operator_m = unfinished
                              ? std::make_unique<DiffusionOperator>(space_, *points_, beta, &watch, *unfinished)
                              : std::make_unique<DiffusionOperator>(space_, *points_, beta, options.alpha, &watch, first, rule);
  DiffusionOperator& m = *operator_m;
  if (m.sparse()) {
    state_.latest = {beta, {}, {}, {}, m.return_probability()};
    solution.spectrum.outcome = SolverOutcome::ceiling;
    solution.probe = record(m, beta, started);
    solution.probe.outcome = "sparse";
    return;
  }

  const SolverOptions solver = solver_options(purpose);
  if (solves && !unfinished) m.measure_perron();
  // However many groups are admitted, one row by itself closes the gap past them.
  std::vector<double> alone = solves ? std::vector<double>() : rows_by_themselves(m, options);
  const std::size_t admitted = context_.admits_groups() ? 0 : solver.ceiling_index;
  Spectrum& spectrum = solution.spectrum;
  if (admitted < alone.size() && alone[admitted] > solver.ceiling) {
    alone.resize(admitted + 1);
    spectrum.values = std::move(alone);
    spectrum.outcome = SolverOutcome::ceiling;
  } else spectrum = spectrum_of(m, solver, unfinished.get());
  if (spectrum.outcome == SolverOutcome::not_finite) throw not_finite(beta);
  if (solves) solution.perron_residual = m.perron_residual();  // asked before the passes are counted
  if (!std::isfinite(solution.perron_residual)) throw not_finite(beta);
  if (std::isfinite(spectrum.latest)) state_.share = spectrum.latest;

  // psi = d^-1/2 v, up to scale, for the next start
  std::vector<double> host(size());
  for (std::size_t i = 0; i < size(); ++i) host[i] = m.degree()[i] > 0 ? 1 / std::sqrt(m.degree()[i]) : 0;
  auto inverse_root = space_.panel(points_->layout(), 1);
  context_.backend.upload(host.data(), *inverse_root);
  if (spectrum.outcome != SolverOutcome::ceiling) {
    state_.modes = {space_.panel(points_->layout(), spectrum.vectors->columns()), space_.panel(points_->layout(), 1), beta};
    context_.backend.scale_rows(*inverse_root, *spectrum.vectors, *state_.modes.psi);
    for (std::size_t i = 0; i < size(); ++i) host[i] = m.degree()[i] > 0 ? std::pow(m.mass()[i], -options.alpha) : 0;
    context_.backend.upload(host.data(), *state_.modes.weight);
    state_.from_rounding = lost_in_rounding(spectrum.values) || (first.panel != nullptr && state_.from_rounding);
  }

  Probe& probe = solution.probe = record(m, beta, started);
  probe.eigenvalues = spectrum.values;
  if (spectrum.outcome == SolverOutcome::exhausted) probe.outcome = "not converged";
  if (spectrum.outcome == SolverOutcome::ceiling) probe.outcome = "wall";
  complete(probe, context_.potential);
  if (spectrum.vectors)
    solution.support = supports(*spectrum.vectors, std::min<std::size_t>(spectrum.values.size(), spectrum.vectors->columns()));
  const auto& support = solution.support;
  const auto localised = [&](double rows) { return rows < localised_below(size()); };
  probe.localised = static_cast<std::size_t>(std::count_if(support.begin(), support.end(), localised));
  const std::size_t in_groups = probe.localised > 0 ? localised_on_kept(support, *spectrum.vectors) : 0;
  state_.latest = {beta,
                   spectrum.values,
                   support,
                   m.degree(),
                   m.return_probability(),
                   in_groups,
                   purpose != Purpose::probe && spectrum.outcome == SolverOutcome::converged};
  if (purpose == Purpose::settle && spectrum.outcome == SolverOutcome::converged) state_.settled = state_.modes;
  if (!solves) return;
  solution.q = m.mass();
  solution.d = m.degree();
  solution.stays = m.return_probability();
}

void RungSolver::archive_small(Archive& archive) {
  archive(state_.count, state_.extensions, state_.share, state_.latest.beta, state_.latest.values, state_.latest.support,
          state_.latest.localised_in_groups, state_.latest.vectors_converged, state_.modes.beta, state_.settled.beta,
          state_.from_rounding);
  if (!archive.reading()) at_last_step_ = state_;
}

void RungSolver::archive_modes(Archive& archive, Modes& modes) {
  for (std::shared_ptr<Panel>* panel : {&modes.psi, &modes.weight}) {
    std::size_t columns = *panel ? (*panel)->columns() : 0;
    archive(columns);
    if (archive.reading()) *panel = columns > 0 ? space_.archived_panel(archive, points_->layout(), columns) : nullptr;
    if (*panel) space_.archive(archive, Columns(**panel));
  }
}

void RungSolver::archive_large(Archive& archive) {
  State& state = archive.reading() ? state_ : at_last_step_;
  archive(state.latest.degree, state.latest.stays);
  archive_modes(archive, state.modes);
  bool same = state.settled.psi == state.modes.psi;
  archive(same);
  if (!same) archive_modes(archive, state.settled);
  else if (archive.reading()) state.settled = {state.modes.psi, state.modes.weight, state.settled.beta};
  if (archive.reading()) at_last_step_ = state_;
}

// Modes that live on a few rows of groups that are kept.
std::size_t RungSolver::localised_on_kept(const std::vector<double>& support, Panel& vectors) {
  if (state_.treatment.kept.empty() || !sets_rows_aside()) return 0;
  const std::size_t modes = support.size();
  std::size_t of_groups = 0;
  std::vector<double> host(size() * modes);
  context_.backend.download({vectors, 0, modes}, host.data());
  for (std::size_t j = 0; j < modes; ++j) {
    if (!(support[j] < localised_below(size()))) continue;
    double kept = 0, all = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double square = host[i * modes + j] * host[i * modes + j];
      all += square;
      if (state_.treatment.kept[i] != 0) kept += square;
    }
    if (kept > 0.5 * all) ++of_groups;
  }
  return of_groups;
}

// What an operator knows by itself; its passes are counted here.
Probe RungSolver::record(const DiffusionOperator& m, double beta, std::chrono::steady_clock::time_point started) {
  Probe probe;
  probe.n = size();
  probe.precision = precision();
  probe.beta = beta;
  probe.s_off = m.s_off();
  probe.s_off_2beta = m.s_off_2beta();
  probe.aside = m.aside();
  probe.passes = m.count().passes;
  probe.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  state_.count.passes += m.count().passes;
  state_.count.columns += m.count().columns;
  return probe;
}

Probe RungSolver::probe(double beta) { return run(beta, Purpose::probe)->probe; }

Probe RungSolver::settle(double beta) { return run(beta, Purpose::settle)->probe; }

// The leading modes of the last solve, row by row in the order of the source; where rows were set aside (no weight) by one pass,
// psi_i = sum_j K_ij w_j psi_j / sum_j K_ij w_j, up to 1 / lambda, which is next to 1 here.
std::vector<double> RungSolver::extended_modes(std::size_t modes, const std::vector<double>& weight) {
  Backend& backend = context_.backend;
  const Columns psi{*state_.modes.psi, 0, modes};
  std::vector<double> host(size() * modes);
  backend.download(psi, host.data());
  if (std::find(weight.begin(), weight.end(), 0.0) == weight.end()) return host;
  auto in = space_.panel(points_->layout(), modes + 1), out = space_.panel(points_->layout(), modes + 1);
  backend.scale_rows(*state_.modes.weight, psi, {*in, 0, modes});
  space_.copy(*state_.modes.weight, {*in, modes, 1});
  context_.watch.pass(0.5 * static_cast<double>(size()) * static_cast<double>(size()));
  backend.xgemm(state_.modes.beta, *points_, *in, *out, &context_.watch);
  state_.count.passes += 1;
  state_.count.columns += modes + 1;
  std::vector<double> sums(size() * (modes + 1));
  backend.download(*out, sums.data());
  for (std::size_t i = 0; i < size(); ++i) {
    const double total = sums[i * (modes + 1) + modes];
    if (weight[i] > 0 || !(total > 1e-30)) continue;  // a row that no other is near to belongs to none
    for (std::size_t j = 0; j < modes; ++j) host[i * modes + j] = sums[i * (modes + 1) + j] / total;
  }
  return host;
}

static std::vector<double> broad_of(const std::vector<double>& values, const std::vector<double>& support, double least) {
  std::vector<double> broad;
  for (std::size_t j = 0; j < std::min(values.size(), support.size()); ++j)
    if (support[j] >= least) broad.push_back(values[j]);
  return broad;
}

std::vector<double> RungSolver::broad_values() const {
  return broad_of(state_.latest.values, state_.latest.support, localised_below(size()));
}

std::vector<double> RungSolver::broad_values(double beta, double most_return) {
  const Latest& latest = state_.latest;
  if (latest.beta == beta && latest.vectors_converged && state_.treatment.most_return == most_return) return broad_values();
  std::vector<double> broad;
  context_.journal.step(
      fmt::format("comparison of {} rows at beta {}, {} aside", size(), beta, most_return), *this,
      [&] {
        const State before = state_;
        state_.treatment.most_return = most_return;
        Solution solution;
        make(beta, Purpose::settle, solution);
        broad = broad_of(solution.spectrum.values, solution.support, localised_below(size()));
        const PassCount count = state_.count;
        state_ = before;
        state_.count = count;
      },
      [&](Archive& archive) { archive(broad); });
  return broad;
}

void RungSolver::set_treatment(RowTreatment treatment) {
  if (treatment.most_return != state_.treatment.most_return) state_.settled = {};  // modes of another walk
  state_.treatment = std::move(treatment);
}

void RungSolver::set_aside_above(double most_return) {
  RowTreatment treatment = state_.treatment;
  treatment.most_return = most_return;
  set_treatment(std::move(treatment));
}

bool RungSolver::keep_groups() {
  bool any = false;
  context_.journal.step(
      fmt::format("groups of {} rows at beta {}", size(), state_.latest.beta), *this,
      [&] {
        const bool of_modes = keep_groups_of_modes(next_to_one(state_.latest.values));
        any = keep_groups_aside() || of_modes;
      },
      [&](Archive& archive) { archive(any, state_.treatment.kept); });
  return any;
}

bool RungSolver::keep_groups_of_modes(std::size_t modes) {
  if (modes == 0 || !state_.modes.psi || state_.modes.beta != state_.latest.beta) return false;
  modes = std::min(modes, state_.modes.psi->columns());
  std::vector<double> weight(size()), mode(size());
  context_.backend.download(*state_.modes.weight, weight.data());
  const std::vector<double> host = extended_modes(modes, weight);
  // P_ii = w_i^2 / d_i where all rows are in the walk
  const auto stays = [&](std::size_t i) {
    return state_.latest.stays.empty() ? weight[i] * weight[i] / state_.latest.degree[i] : state_.latest.stays[i];
  };
  state_.treatment.kept.resize(size(), 0);
  bool aside = false;
  for (std::size_t j = 0; j < modes; ++j) {
    for (std::size_t i = 0; i < size(); ++i) mode[i] = host[i * modes + j];
    const double middle = median(mode);
    double most = 0;
    for (const double value : mode) most = std::max(most, std::abs(value - middle));
    // a row alone may share a mode with a group: their eigenvalues are the same
    const auto member = [&](std::size_t i) { return std::abs(mode[i] - middle) > 0.5 * most && stays(i) <= rather_stays; };
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < size(); ++i)
      if (member(i)) members.push_back(i);
    if (members.size() < static_cast<std::size_t>(localised_rows) || 10 * members.size() > size()) continue;
    for (const std::size_t i : members) {
      aside = aside || weight[i] == 0;
      state_.treatment.kept[i] = 1;
    }
  }
  return aside;
}

bool RungSolver::keep_groups_aside() {
  std::vector<std::size_t> rows;
  const std::vector<char>& kept = state_.treatment.kept;
  for (std::size_t i = 0; i < state_.latest.degree.size(); ++i)
    if (state_.latest.degree[i] == 0 && (kept.empty() || kept[i] == 0)) rows.push_back(i);  // what is kept and aside is alone
  constexpr auto least = static_cast<std::size_t>(localised_rows);
  const std::vector<std::size_t> members = far_groups(context_.backend, *points_, *source_, rows, state_.latest.beta,
                                                      state_.latest.beta / state_.treatment.dearest, least, &context_.watch);
  state_.treatment.kept.resize(size(), 0);
  for (const std::size_t row : members) state_.treatment.kept[row] = 1;
  return !members.empty();
}

std::size_t RungSolver::most_rows_aside() const {
  const std::size_t needed = std::min(size(), context_.options.modes + 1);
  const auto share = static_cast<std::size_t>(most_aside * static_cast<double>(size()));
  return std::min(size() - needed, std::max<std::size_t>(share, size() >= fewest_for_one_aside ? 1 : 0));
}

bool RungSolver::settled_near(double beta) const {
  return state_.settled.beta > 0 && std::abs(std::log(beta / state_.settled.beta)) < 0.1;
}

std::shared_ptr<Solution> RungSolver::solve(double beta) { return run(beta, Purpose::solve); }

void RungSolver::start_from(RungSolver& smaller) {
  context_.journal.step(
      fmt::format("extension of {} rows in {} to {} in {}", smaller.size(), traits(smaller.precision()).name, size(),
                  traits(precision()).name),
      *this, [&] { extend_from(smaller); }, [&](Archive& archive) { archive(state_.treatment.kept); });
}

void RungSolver::extend_from(RungSolver& smaller) {
  const Modes& known = smaller.state_.settled.psi ? smaller.state_.settled : smaller.state_.modes;
  if (!known.weight) return;  // nothing was solved there
  Backend& backend = context_.backend;
  // between fp32 and fp64 the points are loaded anew, and the rows of a panel follow them
  const bool crosses = traits(smaller.precision()).wide_panels != traits(precision()).wide_panels;
  const std::unique_ptr<Points> loaded = crosses ? backend.load(*smaller.source_, precision()) : nullptr;
  const Points& from = crosses ? *loaded : *smaller.points_;
  const auto here = [&](Panel& panel) {
    std::vector<double> host(smaller.size() * panel.columns());
    backend.download(panel, host.data());
    auto copy = space_.panel(from.layout(), panel.columns());
    backend.upload(host.data(), *copy);
    return copy;
  };
  const std::unique_ptr<Panel> modes = crosses ? here(*known.psi) : nullptr, weight = crosses ? here(*known.weight) : nullptr;
  Panel& psi = crosses ? *modes : *known.psi;
  Panel& q = crosses ? *weight : *known.weight;
  // psi(x) = sum_j k(x, j) q_j^-alpha psi_j / sum_j k(x, j) q_j^-alpha, up to 1 / lambda, which a span does not see. From fewer rows k is
  // taken at beta / 2: that is an extension at beta and a step of diffusion after it, which averages out the sample's own noise.
  const double beta = (smaller.size() < size() ? 0.5 : 1) * known.beta;
  // Rows that are kept ride along: a row nearer to them than to the others is one.
  const std::size_t columns = psi.columns(), kept = smaller.state_.treatment.kept.empty() ? 0 : 1;
  auto in = space_.panel(from.layout(), columns + 1 + kept);
  if (kept > 0) {
    const std::vector<double> flags(smaller.state_.treatment.kept.begin(), smaller.state_.treatment.kept.end());
    auto flagged = space_.panel(from.layout(), 1);
    backend.upload(flags.data(), *flagged);
    backend.scale_rows(q, *flagged, {*in, columns + 1, 1});
  }
  space_.copy(q, {*in, columns, 1});
  backend.scale_rows(q, psi, {*in, 0, columns});
  auto out = space_.panel(points_->layout(), columns + 1 + kept);
  context_.watch.stage("extend", size(), beta, columns);
  context_.watch.pass(static_cast<double>(size()) * static_cast<double>(smaller.size()));
  backend.xgemm(beta, *points_, from, *in, *out, &context_.watch, Precision::tf32);  // a start, no better than its rung
  std::vector<double> host(size());
  backend.download({*out, columns, 1}, host.data());
  for (double& sum : host) sum = sum > 1e-30 ? 1 / sum : 0;
  auto inverse = space_.panel(points_->layout(), 1);
  backend.upload(host.data(), *inverse);
  state_.modes.psi = space_.panel(points_->layout(), columns);
  backend.scale_rows(*inverse, {*out, 0, columns}, *state_.modes.psi);
  if (kept > 0) {
    backend.scale_rows(*inverse, {*out, columns + 1, 1}, {*out, columns + 1, 1});
    backend.download({*out, columns + 1, 1}, host.data());
    state_.treatment.kept.assign(size(), 0);
    for (std::size_t i = 0; i < size(); ++i) state_.treatment.kept[i] = host[i] > 0.5 ? 1 : 0;
  }
  state_.count.passes += 1;
  state_.extensions += 1;
  state_.count.columns += columns + 1 + kept;
}

}  // namespace fd
