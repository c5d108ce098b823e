#include "fit/forecast.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "base/random.hpp"
#include "device/backend.hpp"
#include "fit/backend_of.hpp"
#include "fit/centred_source.hpp"
#include "fit/check_options.hpp"
#include "fit/exact_rank.hpp"
#include "fit/resources.hpp"
#include "solver/plan.hpp"

namespace fd {
namespace {

constexpr double ladder_ratio = 4;
constexpr std::size_t least_rung = 1024, timed_rows = 2048;
constexpr std::size_t narrow_columns = 2, wide_columns = 24;  // widths at which a pass is timed
// Of points with more coordinates these are timed: what a pair costs beyond them grows with their number. Rows stay as many, so that all threads
// have work.
constexpr std::size_t timed_coordinates = 1024;
constexpr double most_values = 0x1p50;  // of a table: some petabytes

bool keeps_doubles(const Options& options) {
  return std::any_of(options.precision.begin(), options.precision.end(), [](Precision p) { return traits(p).wide_panels; });
}

SolverPlan plan_of(std::size_t rows, const Options& options, bool tiles_kept = false) {
  return plan_solver(options.modes, rows, keeps_doubles(options) ? 8 : 4, options.block, options.basis, tiles_kept);
}

// Points that do not exist: normal, made where they are read.
class RandomSource final : public PointSource {
 public:
  RandomSource(std::size_t rows, std::size_t dimension) : rows_(rows), dimension_(dimension) {}
  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return dimension_; }
  void read(std::size_t first, std::size_t count, double* out) override {
    for (std::size_t i = 0; i < count * dimension_; ++i) out[i] = random_.normal(first * dimension_ + i);
  }

 private:
  std::size_t rows_, dimension_;
  Random random_{1, 0};
};

}  // namespace

std::size_t solved_modes(const Options& options) { return options.drop_localised ? 8 * options.modes + 16 : options.modes; }

// A row costs its points three times (as loaded, in double; scaled by the bandwidth of a pass; that in few bits, of which AMX wants two
// layouts of three parts), the Lanczos basis and its image, a block of input, weights and sums of a pass, the modes and those carried
// beyond them, and mass, degree and scale in double. Nothing grows faster than the number of rows. The last factor is what the
// allocator keeps of what was freed, measured at 1.25 to 1.35.
double fit_memory_bytes(std::size_t rows, std::size_t dimension, const Options& wishes) {
  Options options = wishes;
  options.modes = std::min(solved_modes(wishes), std::max<std::size_t>(wishes.modes, rows - 1));
  const SolverPlan plan = plan_of(rows, options);
  const std::size_t value = keeps_doubles(options) ? 8 : 4;
  const bool amx = (options.isa.empty() ? instruction_sets().front() : options.isa) == "amx";
  const std::size_t few = amx ? 12 * dimension + 128 : 2 * (dimension + 1);
  const std::size_t points = 8 * dimension + value * (dimension + 1) + few;
  const std::size_t panels = value * (2 * std::min(plan.basis, rows) + 3 * plan.block) + 8 * plan.block;
  const std::size_t modes = value * 2 * (options.modes + carried_beyond(options.modes)) + 8 * 2 * options.modes;
  constexpr std::size_t sums = 8 * 6;
  constexpr double program = 2e7, kept = 1.3;
  return kept * static_cast<double>(rows) * static_cast<double>(points + panels + modes + sums) + program;
}

double rank0_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options, std::size_t ranks) {
  const std::size_t value = keeps_doubles(options) ? 8 : 4;
  const std::size_t whole = value * options.modes + 8 * options.modes + 8 * 6 + (options.keep_points ? value * dimension : 0);
  const std::size_t share = std::max<std::size_t>(1, rows / ranks);
  const double visiting = 2 * 16.0 * static_cast<double>(share) * static_cast<double>(dimension);
  return fit_memory_bytes(share, dimension, options) + static_cast<double>(rows) * static_cast<double>(whole) + visiting;
}

// Of a fit and its tiles: what any machine has, so that it is not asked; reading what is free takes as long as a small fit.
constexpr double little_memory = 6.4e7;

std::size_t keep_bytes(std::size_t rows, std::size_t dimension, const Options& options) {
  if (options.memory_bytes == std::size_t{0}) return 0;
  const double needed = fit_memory_bytes(rows, dimension, options), n = static_cast<double>(rows);
  const auto budget = [&] {
    if (options.memory_bytes) return static_cast<double>(*options.memory_bytes);
    constexpr double bytes_a_pair = 5;  // halves of tiles, and of panels that are not full, in fp64
    return needed + bytes_a_pair * n * n <= little_memory ? little_memory : 0.5 * static_cast<double>(available_memory_bytes());
  };
  return static_cast<std::size_t>(std::max(0.0, budget() - needed));
}

std::string memory_complaint(std::size_t rows, std::size_t dimension, const Options& options) {
  const double needed = options.comm != nullptr ? rank0_memory_bytes(rows, dimension, options, ranks_of(options))
                                                : fit_memory_bytes(rows, dimension, options);
  const auto size = [](double bytes) {
    return bytes < 1e9 ? fmt::format("{:.0f} MB", std::ceil(bytes / 1e6)) : fmt::format("{:.1f} GB", bytes / 1e9);
  };
  const std::string needs = fmt::format("a fit of {} needs about {} of memory", counted_shape(rows, dimension), size(needed));
  if (const std::size_t budget = options.memory_bytes.value_or(0); budget > 0 && needed > static_cast<double>(budget))
    return fmt::format("{}, more than `memory_bytes = {}` allows", needs, budget);
  if (options.memory_bytes.value_or(0) > 0 || needed <= little_memory) return {};
  const auto free = static_cast<double>(available_memory_bytes());
  return free > 0 && needed > free ? fmt::format("{}, and {} are free", needs, size(free)) : "";
}

void require_memory(std::size_t rows, std::size_t dimension, const Options& options) {
  if (const std::string complaint = memory_complaint(rows, dimension, options); !complaint.empty())
    throw Error(Failure::memory, complaint,
                "use fewer rows, columns or modes, or a smaller `basis`; a larger `memory_bytes` tries all the same");
}

std::size_t carried_beyond(std::size_t modes, std::size_t least) { return (modes + 1 + least + 7) / 8 * 8 - modes - 1; }

std::size_t most_solver_passes(const Options& options, std::size_t block) {
  return options.max_passes > 0 ? options.max_passes : (50 + 4 * options.modes) * 8 / std::clamp<std::size_t>(block, 1, 8);
}

std::vector<Rung> fit_rungs(std::size_t rows, const Options& options) {
  if (options.beta) return {{rows, options.precision.back()}};
  const std::size_t smallest = options.ladder ? std::max<std::size_t>(least_rung, 8 * (options.modes + 1)) : rows;
  return rungs(rows, std::min(smallest, rows), ladder_ratio, options.precision);
}

PassCost measure_pass_cost(Backend& backend, PointSource& sample, Precision precision, double beta) {
  using Clock = std::chrono::steady_clock;
  const auto points = backend.load(sample, precision);
  const std::size_t n = points->rows();
  const double pairs = 0.5 * static_cast<double>(n) * static_cast<double>(n);
  const auto time = [&](std::size_t columns) {
    auto in = backend.panel(points->layout(), columns, precision), out = backend.panel(points->layout(), columns, precision);
    backend.randomize(*in, 1, 0);
    double fastest = std::numeric_limits<double>::infinity(), spent = 0;
    for (int repeat = 0; repeat < 5 || (spent < 0.02 && repeat < 50); ++repeat) {
      const auto start = Clock::now();
      backend.xgemm(beta, *points, *in, *out, nullptr);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      fastest = std::min(fastest, seconds);
      spent += seconds;
      if (spent > 0.3) break;
    }
    return fastest / pairs;
  };
  const double narrow = time(narrow_columns), wide = time(wide_columns);
  PassCost cost;
  cost.by_column = std::max(0.0, (wide - narrow) / static_cast<double>(wide_columns - narrow_columns));
  cost.fixed = std::max(0.1 * narrow, narrow - cost.by_column * static_cast<double>(narrow_columns));
  return cost;
}

FitForecast::FitForecast(std::size_t rows, std::size_t dimension, const Options& options, const PassCosts& costs) {
  const std::size_t modes = options.modes, warm = modes + 1 + carried_beyond(modes);
  const std::size_t narrow =
      modes < 4 ? 4 : std::min<std::size_t>(plan_of(rows, options, costs.kept_as_a_rule(rows)).block + 8, (modes + 8) / 8 * 8);
  const double digits = std::max(1.0, -std::log10(options.tolerance));
  const auto ladder = fit_rungs(rows, options);
  const bool follows_minimum = options.select == Select::robust || options.select == Select::minimum;

  const std::size_t solver_passes = most_solver_passes(options, plan_of(rows, options, costs.kept_as_a_rule(rows)).block);
  const auto most = static_cast<double>(solver_passes);
  most_passes_ = solver_passes + 2;  // with mass and degree

  for (std::size_t r = 0; r < ladder.size(); ++r) {
    RungForecast rung;
    rung.n = ladder[r].n;
    const PassCost cost = costs.of(rung.n);
    const bool cold = r == 0, last = r + 1 == ladder.size();
    const double pairs = 0.5 * static_cast<double>(rung.n) * static_cast<double>(rung.n);
    const std::size_t block = plan_of(rung.n, options, costs.kept_as_a_rule(rung.n)).block;
    const auto sweep = [&](StageForecast& stage, std::size_t columns, double count) {
      const auto passes = static_cast<std::size_t>(std::lround(count));
      stage.passes += passes;
      stage.columns += passes * columns;
      const auto width = static_cast<double>(columns);
      stage.seconds +=
          static_cast<double>(passes) * costs.sharing.seconds(cost.seconds(pairs, width), static_cast<double>(rung.n), width);
    };
    const auto begin = [&](StageForecast& stage, bool from_nothing) {  // mass, then degree, with the images of a warm start
      sweep(stage, 2, 1);
      sweep(stage, from_nothing ? 1 : warm, 1);
    };
    if (!cold) {
      rung.extend.passes = 1;
      rung.extend.columns = warm;
      const double alone =
          cost.seconds(static_cast<double>(rung.n) * static_cast<double>(ladder[r - 1].n), 0.5 * static_cast<double>(warm));
      rung.extend.seconds = costs.sharing.seconds(alone, static_cast<double>(rung.n), static_cast<double>(warm));
    }
    // probes from experience: a search begins with five, goes on with three; where three rungs are known the full n needs none
    const bool carried = follows_minimum && r >= 3 && last;
    if (!options.beta) rung.probes = carried ? 0 : follows_minimum ? (cold ? 5 : 3) : 8;
    begin(rung.probe, false);
    sweep(rung.probe, narrow, std::min(most, modes > 24 ? 2.0 : 1.0));
    const bool settles = follows_minimum && !cold && !last;  // in one of its probes
    if (!settles) begin(rung.solve, options.beta.has_value());
    if (options.beta) sweep(rung.solve, block, std::min(most, (block < 8 ? 8 : 4) * digits));
    else if (last) sweep(rung.solve, narrow, std::min(most, 2 * (digits - 1) * (1 + static_cast<double>(modes) / 40)));
    else sweep(rung.solve, narrow, std::min(most, 2.0));

    const auto add = [&](const StageForecast& stage, std::size_t times, bool over_all_rows) {
      total_.seconds += static_cast<double>(times) * stage.seconds;
      total_.passes += times * stage.passes;
      total_.columns += times * stage.columns;
      if (over_all_rows && rung.n == rows) total_.full_passes += times * stage.passes;
    };
    add(rung.extend, 1, false);
    add(rung.probe, rung.probes, true);
    add(rung.solve, 1, true);
    rungs_.push_back(rung);
  }
  total_.memory_bytes = fit_memory_bytes(rows, dimension, options) + costs.kept_of(rows).bytes;
  total_.pairs_per_second = 1 / costs.of(rows).seconds(1, 1);
  if (costs.sharing.ranks < 2) return;
  const auto n = static_cast<double>(rows), width = static_cast<double>(narrow), ranks = static_cast<double>(costs.sharing.ranks);
  const double alone = costs.of(rows).seconds(0.5 * n * n, width);
  total_.ranks = costs.sharing.ranks;
  total_.efficiency = alone / (ranks * costs.sharing.seconds(alone, n, width));
  total_.pairs_per_second *= ranks * total_.efficiency;
  total_.memory_bytes = rank0_memory_bytes(rows, dimension, options, costs.sharing.ranks) + costs.kept_of(rows).bytes / ranks;
}

const FitForecast::RungForecast* FitForecast::find(std::size_t n) const {
  for (const RungForecast& rung : rungs_)
    if (rung.n == n) return &rung;
  return nullptr;
}

StageForecast FitForecast::stage_of(const std::string& stage, std::size_t n) const {
  const RungForecast* rung = find(n);
  if (rung == nullptr) return {};
  return stage == "extend" ? rung->extend : stage == "probe" ? rung->probe : stage == "solve" ? rung->solve : StageForecast{};
}

double FitForecast::stage_seconds(const std::string& stage, std::size_t n) const { return stage_of(stage, n).seconds; }
std::size_t FitForecast::stage_passes(const std::string& stage, std::size_t n) const { return stage_of(stage, n).passes; }

double FitForecast::seconds_after(const std::string& stage, std::size_t n, std::size_t probes) const {
  double seconds = 0;
  for (const RungForecast& rung : rungs_) {
    if (rung.n < n) continue;
    if (rung.n > n) seconds += rung.extend.seconds;
    else if (stage == "solve") continue;
    const std::size_t left = rung.n > n ? rung.probes : rung.probes - std::min(rung.probes, probes);
    seconds += static_cast<double>(left) * rung.probe.seconds + rung.solve.seconds;
  }
  return seconds;
}

namespace {

// Of a fit of so many rows and coordinates, timed on a few rows and maybe fewer coordinates, centred, at a bandwidth for all of them.
FitForecast forecast_from(Backend& backend, PointSource& sample, std::size_t rows, std::size_t dimension, double beta_of_all,
                          const Options& options) {
  const Precision precision = options.precision.back();
  const double coordinates_a_timed_one = static_cast<double>(dimension) / static_cast<double>(sample.dimension());
  const double beta = beta_of_all * coordinates_a_timed_one;  // so that pairs are as far apart as they are in all coordinates
  PassCosts costs;
  costs.made = costs.kept = measure_pass_cost(backend, sample, precision, beta);
  costs.kept_of = [&](std::size_t n) { return backend.kept(n, dimension, precision); };
  costs.kept_as_a_rule = [&](std::size_t n) { return backend.keeps_as_a_rule(n, dimension, precision); };
  const double share = costs.kept_of(rows).share;
  if (share > 0 && share < 1)  // all of it kept: there is nothing else to know
    costs.made = measure_pass_cost(*backend_of_a_rank(options, 0), sample, precision, beta);
  costs.sharing.ranks = ranks_of(options);
  costs.sharing.least_rows = options.rows_a_rank;
  costs.sharing.bytes_a_row = 8 * static_cast<double>(dimension);
  costs.sharing.bytes_a_column = 2 * (traits(precision).wide_panels ? 8 : 4);
  costs.sharing.bytes_per_second = options.link_bytes_per_second;
  costs.made.fixed *= coordinates_a_timed_one;  // tiles that are kept are read, whatever they were made of
  if (share == 0) costs.kept = costs.made;
  return {rows, dimension, options, costs};
}

// Some of the columns, evenly spread, where there are many and they have no other basis.
PointSummary timed_columns(const PointSummary& summary) {
  PointSummary some = summary;
  const std::size_t all = summary.varying.size();
  if (!summary.basis.empty() || all <= timed_coordinates) return some;
  some.varying.resize(timed_coordinates);
  for (std::size_t c = 0; c < timed_coordinates; ++c) some.varying[c] = summary.varying[c * all / timed_coordinates];
  return some;
}

}  // namespace

FitForecast forecast_fit(Backend& backend, PointSource& points, const PointSummary& summary, const Options& options) {
  const PointSummary timed = timed_columns(summary);
  CentredSource sample(points, timed, nested_sample(points.rows(), std::min(points.rows(), timed_rows), options.seed));
  return forecast_from(backend, sample, points.rows(), summary.coordinates(), options.beta.value_or(2 / summary.mean_square),
                       options);
}

namespace {

// Ranks of an estimate are machines like this one.
std::unique_ptr<Backend> backend_of_a_machine(Options options, std::size_t keep) {
  options.ranks = 1;
  return backend_of(options, keep);
}

}  // namespace

Forecast estimate(PointSource& points, const Options& wishes) {
  const Options options = checked_options(wishes, points.rows());
  // a summary of the sample alone: a file of any size takes no time
  constexpr std::size_t least_rows = 32, sample_values = std::size_t{1} << 24;
  const std::size_t some = std::clamp(sample_values / std::max<std::size_t>(points.dimension(), 1), least_rows, timed_rows);
  const auto rows = nested_sample(points.rows(), std::min(points.rows(), some), options.seed);
  std::vector<double> values(rows.size() * points.dimension());
  SomeRows(points, rows).read(0, rows.size(), values.data());
  ViewSource sample(PointsView(values.data(), rows.size(), points.dimension()));
  PointSummary summary = summarise(sample, options.precision);
  reduce_to_rank(sample, summary, options.precision, options.seed);
  const std::size_t keep = keep_bytes(points.rows(), summary.coordinates(), options);
  const auto backend = backend_of_a_machine(options, keep);
  return forecast_fit(*backend, points, summary, options).total();
}

Forecast estimate(std::size_t rows, std::size_t dimension, const Options& wishes) {
  if (!(static_cast<double>(rows) * static_cast<double>(dimension) <= most_values))
    throw Error(Failure::misuse, fmt::format("{} are more values than any machine holds", counted_shape(rows, dimension)),
                "give the rows and columns of the table that is to be fitted");
  if (dimension == 0) throw Error(Failure::misuse, "points need at least one column", "give the columns of the table too");
  const Options options = checked_options(wishes, rows);
  // one row, and one column, is like another: those that are timed are made
  RandomSource some(std::min(rows, timed_rows), std::min(dimension, timed_coordinates));
  const PointSummary summary = summarise(some, options.precision);
  CentredSource sample(some, summary);
  const std::size_t keep = keep_bytes(rows, dimension, options);
  const auto backend = backend_of_a_machine(options, keep);
  const double mean_square = summary.mean_square * static_cast<double>(dimension) / static_cast<double>(sample.dimension());
  return forecast_from(*backend, sample, rows, dimension, options.beta.value_or(2 / mean_square), options).total();
}

}  // namespace fd
