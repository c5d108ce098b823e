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

}  // namespace

struct RungSolver::Solved {
  std::unique_ptr<DiffusionOperator> m;
  Spectrum spectrum;
  Probe probe;
  std::vector<double> support;
};

RungSolver::RungSolver(FitContext& context, std::vector<std::size_t> rows, Precision precision)
    : context_(context),
      source_(std::make_unique<CentredSource>(context.source, context.summary, std::move(rows))),
      points_(context.backend.load(*source_, precision)),
      space_(context.backend, precision, context.comm) {}

std::vector<double> RungSolver::supports(Panel& vectors, std::size_t modes) {
  std::vector<double> host(size() * modes), fourth(modes, 0.0), second(modes, 0.0);
  context_.backend.download(nullptr, {vectors, 0, modes}, host.data());
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t j = 0; j < modes; ++j) {
      const double square = host[i * modes + j] * host[i * modes + j];
      second[j] += square;
      fourth[j] += square * square;
    }
  std::vector<double> support(modes);
  for (std::size_t j = 0; j < modes; ++j) support[j] = fourth[j] > 0 ? second[j] * second[j] / fourth[j] : 0;
  return support;
}

// Near settled modes a probe needs the wanted ones and a few beside them.
Columns RungSolver::start(Purpose purpose) const {
  const std::size_t modes = context_.options.modes;
  if (purpose == Purpose::probe && settled_.psi)
    return {*settled_.psi, 0, std::min(settled_.psi->columns(), modes + carried_beyond(modes, 3))};
  return latest_modes_.psi ? Columns(*latest_modes_.psi) : Columns();
}

RungSolver::Solved RungSolver::run(double beta, Purpose purpose) {
  const auto started = std::chrono::steady_clock::now();
  const Options& options = context_.options;
  const bool values_only = purpose == Purpose::probe, solves = purpose == Purpose::solve;
  const double pairs = 0.5 * static_cast<double>(size()) * static_cast<double>(size());
  ProgressWatch& watch = context_.watch;
  watch.stage(solves ? "solve" : "probe", size(), beta, options.modes);
  watch.expect(pairs);

  Solved solved;
  const RowRule rule{treatment_.most_return, most_rows_aside(), treatment_.kept.empty() ? nullptr : &treatment_.kept, !solves};
  solved.m = std::make_unique<DiffusionOperator>(space_, *points_, beta, options.alpha, &watch, start(purpose), rule);
  DiffusionOperator& m = *solved.m;
  latest_ = {beta, {}, {}, m.sparse() ? std::vector<double>() : m.degree(), m.return_probability()};
  if (m.sparse()) {
    solved.spectrum.outcome = SolverOutcome::ceiling;
    solved.probe = record(m, beta, started);
    solved.probe.outcome = "sparse";
    return solved;
  }

  const bool wide = traits(precision()).wide_panels;
  const SolverPlan plan = plan_solver(options.modes, size(), wide ? 8 : 4, options.block, options.basis);
  SolverOptions solver;
  solver.modes = options.modes;
  solver.carry = carried_beyond(options.modes);
  solver.block = plan.block;
  solver.basis = plan.basis;
  solver.most_passes = options.max_passes > 0 ? options.max_passes : 50 + 4 * options.modes;
  solver.tolerance = purpose == Purpose::settle ? carried_tolerance : options.tolerance;
  solver.floor = (wide ? 1e-15 : 3e-7);  // of fp64 and fp32 sums; the kernel of tf32 and bf16 is less precise but always the same
  solver.values_only = values_only;
  solver.latest = latest_share_;
  solver.seed = options.seed;
  if (!solves) {
    solver.ceiling = 1 - wall_gap(precision(), context_.potential);
    solver.ceiling_index = context_.most_components() - 1;
  }
  solver.progress = [&](const SolverState& state) { watch.now().converged = state.converged; };

  if (solves) m.measure_perron();
  // However many groups are admitted, one row by itself closes the gap past them.
  std::vector<double> alone = solves ? std::vector<double>() : rows_by_themselves(m, options);
  const std::size_t admitted = context_.admits_groups() ? 0 : solver.ceiling_index;
  if (admitted < alone.size() && alone[admitted] > solver.ceiling) {
    alone.resize(admitted + 1);
    solved.spectrum.values = std::move(alone);
    solved.spectrum.outcome = SolverOutcome::ceiling;
  } else solved.spectrum = block_lanczos(space_, m, solver, m.perron().panel, m.start(), m.start_image());
  m.forget_start();
  if (solved.spectrum.outcome == SolverOutcome::not_finite) throw not_finite(beta);
  if (solves && !std::isfinite(m.perron_residual())) throw not_finite(beta);  // asked before the passes are counted
  Spectrum& spectrum = solved.spectrum;
  if (std::isfinite(spectrum.latest)) latest_share_ = spectrum.latest;

  // psi = d^-1/2 v, up to scale, for the next start
  std::vector<double> host(size());
  for (std::size_t i = 0; i < size(); ++i) host[i] = m.degree()[i] > 0 ? 1 / std::sqrt(m.degree()[i]) : 0;
  auto inverse_root = space_.panel(size(), 1);
  context_.backend.upload(points_.get(), host.data(), *inverse_root);
  if (spectrum.outcome != SolverOutcome::ceiling) {
    latest_modes_ = {space_.panel(size(), spectrum.vectors->columns()), space_.panel(size(), 1), beta};
    context_.backend.scale_rows(*inverse_root, *spectrum.vectors, *latest_modes_.psi);
    for (std::size_t i = 0; i < size(); ++i) host[i] = m.degree()[i] > 0 ? std::pow(m.mass()[i], -options.alpha) : 0;
    context_.backend.upload(points_.get(), host.data(), *latest_modes_.weight);
  }

  Probe& probe = solved.probe = record(m, beta, started);
  probe.eigenvalues = spectrum.values;
  if (spectrum.outcome == SolverOutcome::exhausted) probe.outcome = "not converged";
  if (spectrum.outcome == SolverOutcome::ceiling) probe.outcome = "wall";
  complete(probe, context_.potential);
  if (spectrum.vectors)
    solved.support = supports(*spectrum.vectors, std::min<std::size_t>(spectrum.values.size(), spectrum.vectors->columns()));
  probe.localised = localised_elsewhere(solved.support, spectrum.vectors.get());
  latest_.values = spectrum.values;
  latest_.support = solved.support;
  return solved;
}

// Localised modes. Where rows are set aside, those of groups that are kept do not count, up to a quarter of the modes: few rows are what such a
// group has, and a bandwidth that does not resolve it is sparse.
std::size_t RungSolver::localised_elsewhere(const std::vector<double>& support, Panel* vectors) {
  const auto localised = [&](double rows) { return rows < localised_below(size()); };
  const auto count = static_cast<std::size_t>(std::count_if(support.begin(), support.end(), localised));
  if (count == 0 || treatment_.kept.empty() || !sets_rows_aside()) return count;
  const std::size_t modes = support.size();
  std::size_t of_groups = 0;
  std::vector<double> host(size() * modes);
  context_.backend.download(points_.get(), {*vectors, 0, modes}, host.data());
  for (std::size_t j = 0; j < modes; ++j) {
    if (!localised(support[j])) continue;
    double kept = 0, all = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double square = host[i * modes + j] * host[i * modes + j];
      all += square;
      if (treatment_.kept[i] != 0) kept += square;
    }
    if (kept > 0.5 * all) ++of_groups;
  }
  return count - std::min(of_groups, modes / 4);
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
  count_.passes += m.count().passes;
  count_.columns += m.count().columns;
  return probe;
}

Probe RungSolver::probe(double beta) { return run(beta, Purpose::probe).probe; }

Probe RungSolver::settle(double beta) {
  const Solved solved = run(beta, Purpose::settle);
  if (solved.spectrum.outcome == SolverOutcome::converged) settled_ = latest_modes_;
  return solved.probe;
}

// The leading modes of the last solve, row by row in the order of the source; where rows were set aside (no weight) by one pass,
// psi_i = sum_j K_ij w_j psi_j / sum_j K_ij w_j, up to 1 / lambda, which is next to 1 here.
std::vector<double> RungSolver::extended_modes(std::size_t modes, const std::vector<double>& weight) {
  Backend& backend = context_.backend;
  const Columns psi{*latest_modes_.psi, 0, modes};
  std::vector<double> host(size() * modes);
  backend.download(points_.get(), psi, host.data());
  if (std::find(weight.begin(), weight.end(), 0.0) == weight.end()) return host;
  auto in = space_.panel(size(), modes + 1), out = space_.panel(size(), modes + 1);
  backend.scale_rows(*latest_modes_.weight, psi, {*in, 0, modes});
  space_.combine(*latest_modes_.weight, Eigen::MatrixXd::Identity(1, 1), {*in, modes, 1});
  context_.watch.pass(0.5 * static_cast<double>(size()) * static_cast<double>(size()));
  backend.xgemm(latest_modes_.beta, *points_, *in, *out, &context_.watch);
  count_.passes += 1;
  count_.columns += modes + 1;
  std::vector<double> sums(size() * (modes + 1));
  backend.download(points_.get(), *out, sums.data());
  for (std::size_t i = 0; i < size(); ++i) {
    const double total = sums[i * (modes + 1) + modes];
    if (weight[i] > 0 || !(total > 1e-30)) continue;  // a row that no other is near to belongs to none
    for (std::size_t j = 0; j < modes; ++j) host[i * modes + j] = sums[i * (modes + 1) + j] / total;
  }
  return host;
}

void RungSolver::set_treatment(RowTreatment treatment) {
  if (treatment.most_return != treatment_.most_return) settled_ = {};  // modes of another walk
  treatment_ = std::move(treatment);
}

void RungSolver::set_aside_above(double most_return) {
  RowTreatment treatment = treatment_;
  treatment.most_return = most_return;
  set_treatment(std::move(treatment));
}

bool RungSolver::keep_groups() {
  const bool of_modes = keep_groups_of_modes(next_to_one(latest_.values));
  return keep_groups_aside() || of_modes;
}

bool RungSolver::keep_groups_of_modes(std::size_t modes) {
  if (modes == 0 || !latest_modes_.psi || latest_modes_.beta != latest_.beta) return false;
  modes = std::min(modes, latest_modes_.psi->columns());
  std::vector<double> weight(size()), mode(size());
  context_.backend.download(points_.get(), *latest_modes_.weight, weight.data());
  const std::vector<double> host = extended_modes(modes, weight);
  // P_ii = w_i^2 / d_i where all rows are in the walk
  const auto stays = [&](std::size_t i) {
    return latest_.stays.empty() ? weight[i] * weight[i] / latest_.degree[i] : latest_.stays[i];
  };
  treatment_.kept.resize(size(), 0);
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
      treatment_.kept[i] = 1;
    }
  }
  return aside;
}

bool RungSolver::keep_groups_aside() {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < latest_.degree.size(); ++i)
    if (latest_.degree[i] == 0) rows.push_back(i);
  constexpr auto least = static_cast<std::size_t>(localised_rows);
  const std::vector<std::size_t> members = far_groups(context_.backend, *points_, *source_, rows, latest_.beta,
                                                      latest_.beta / treatment_.dearest, least, &context_.watch);
  treatment_.kept.resize(size(), 0);
  for (const std::size_t row : members) treatment_.kept[row] = 1;
  return !members.empty();
}

std::size_t RungSolver::most_rows_aside() const {
  const std::size_t needed = std::min(size(), context_.options.modes + 1);
  return std::min(size() - needed, static_cast<std::size_t>(most_aside * static_cast<double>(size())));
}

bool RungSolver::settled_near(double beta) const { return settled_.psi && std::abs(std::log(beta / settled_.beta)) < 0.1; }

Solution RungSolver::solve(double beta) {
  Solved solved = run(beta, Purpose::solve);
  Solution solution;
  solution.probe = std::move(solved.probe);
  solution.spectrum = std::move(solved.spectrum);
  solution.q = solved.m->mass();
  solution.d = solved.m->degree();
  solution.stays = solved.m->return_probability();
  solution.perron_residual = solved.m->perron_residual();
  solution.support = std::move(solved.support);
  return solution;
}

void RungSolver::start_from(RungSolver& smaller) {
  const Modes& known = smaller.settled_.psi ? smaller.settled_ : smaller.latest_modes_;
  if (!known.weight) return;  // nothing was solved there
  Backend& backend = context_.backend;
  // between fp32 and fp64 the points are loaded anew, and the rows of a panel follow them
  const bool crosses = traits(smaller.precision()).wide_panels != traits(precision()).wide_panels;
  const std::unique_ptr<Points> loaded = crosses ? backend.load(*smaller.source_, precision()) : nullptr;
  const Points& from = crosses ? *loaded : *smaller.points_;
  const auto here = [&](Panel& panel) {
    std::vector<double> host(smaller.size() * panel.columns());
    backend.download(smaller.points_.get(), panel, host.data());
    auto copy = space_.panel(smaller.size(), panel.columns());
    backend.upload(&from, host.data(), *copy);
    return copy;
  };
  const std::unique_ptr<Panel> modes = crosses ? here(*known.psi) : nullptr, weight = crosses ? here(*known.weight) : nullptr;
  Panel& psi = crosses ? *modes : *known.psi;
  Panel& q = crosses ? *weight : *known.weight;
  // psi(x) = sum_j k(x, j) q_j^-alpha psi_j / sum_j k(x, j) q_j^-alpha, up to 1 / lambda, which a span does not see. From fewer rows k is
  // taken at beta / 2: that is an extension at beta and a step of diffusion after it, which averages out the sample's own noise.
  const double beta = (smaller.size() < size() ? 0.5 : 1) * known.beta;
  // Rows that are kept ride along: a row nearer to them than to the others is one.
  const std::size_t columns = psi.columns(), kept = smaller.treatment_.kept.empty() ? 0 : 1;
  auto in = space_.panel(smaller.size(), columns + 1 + kept);
  if (kept > 0) {
    const std::vector<double> flags(smaller.treatment_.kept.begin(), smaller.treatment_.kept.end());
    auto flagged = space_.panel(smaller.size(), 1);
    backend.upload(&from, flags.data(), *flagged);
    backend.scale_rows(q, *flagged, {*in, columns + 1, 1});
  }
  space_.combine(q, Eigen::MatrixXd::Identity(1, 1), {*in, columns, 1});
  backend.scale_rows(q, psi, {*in, 0, columns});
  auto out = space_.panel(size(), columns + 1 + kept);
  context_.watch.stage("extend", size(), beta, columns);
  context_.watch.pass(static_cast<double>(size()) * static_cast<double>(smaller.size()));
  backend.xgemm(beta, *points_, from, *in, *out, &context_.watch, Precision::tf32);  // a start, no better than its rung
  std::vector<double> host(size());
  backend.download(nullptr, {*out, columns, 1}, host.data());
  for (double& sum : host) sum = sum > 1e-30 ? 1 / sum : 0;
  auto inverse = space_.panel(size(), 1);
  backend.upload(nullptr, host.data(), *inverse);
  latest_modes_.psi = space_.panel(size(), columns);
  backend.scale_rows(*inverse, {*out, 0, columns}, *latest_modes_.psi);
  if (kept > 0) {
    backend.scale_rows(*inverse, {*out, columns + 1, 1}, {*out, columns + 1, 1});
    backend.download(points_.get(), {*out, columns + 1, 1}, host.data());
    treatment_.kept.assign(size(), 0);
    for (std::size_t i = 0; i < size(); ++i) treatment_.kept[i] = host[i] > 0.5 ? 1 : 0;
  }
  count_.passes += 1;
  extensions_ += 1;
  count_.columns += columns + 1 + kept;
}

}  // namespace fd
