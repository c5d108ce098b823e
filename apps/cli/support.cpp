// flashdiffusion support: what a graph of nearest neighbours would keep of the kernel of these points.
#include <flashdiffusion/support.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "cli/fit_arguments.hpp"
#include "cli/read_arguments.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/progress_display.hpp"
#include "common/validators.hpp"
#include "fit/resources.hpp"
#include "io/open_points.hpp"

namespace fd::cli {
namespace {

struct SupportArguments {
  ReadArguments read;
  BandwidthArguments bandwidth;
  std::vector<std::string> points;
  SupportOptions options;
  std::string rows = "400";
  std::size_t threads = 0;
  bool json = false, quiet = false;
};

constexpr const char* support_footer =
    R"(f_k is the share of a row's kernel mass that its k nearest neighbours hold, itself among them: what a graph of k neighbours keeps. k* is how
many neighbours of a row have a kernel value of tau or more, rho = k*/n; a graph with fewer drops entries that the arithmetic can see.
Where points lie evenly on a surface f_k = 1 - exp(-c2 k); the last column shows how well that fits. Rows are a random sample, measured
against all.

Examples:
  flashdiffusion support points.npy --beta 8.75
  flashdiffusion support points.csv --sigma 0.3 --neighbours 10,30,100 --tau 1e-6 --rows all
  flashdiffusion support points.npy --beta $(flashdiffusion info model.h5 --json | jq .beta) --json)";

nlohmann::ordered_json spread_json(const RowSpread& spread) {
  return {{"mean", spread.mean}, {"error", spread.error}, {"lowest", spread.lowest}, {"highest", spread.highest}};
}

// A standard error; of one row it is not known.
std::string error_text(double error) { return std::isnan(error) ? "-" : fmt::format("{:.2g}", error); }

double surface_law(const KernelSupport& support, std::size_t k) { return -std::expm1(-support.c2 * static_cast<double>(k)); }

std::string to_text(const KernelSupport& support, double beta) {
  std::string text = row_text("points", counted(support.n, "row"));
  text += row_text("bandwidth", fmt::format("{:.6g}", beta));
  text += row_text("measured",
                   fmt::format("on {}, row mass {:.4g} on average", counted(support.rows.size(), "row"), support.row_mass.mean));
  text += row_text("c2", std::isnan(support.c2) ? std::string("not known: fewer than two of these k leave mass out")
                                                : fmt::format("{:.4g}  (1 - exp(-c2 k) is off by {:.2g} % at most)", support.c2,
                                                              100 * support.c2_departure));
  text += fmt::format("\n{:>8}  {:>10}  {:>8}  {:>19}  {:>14}\n", "k", "retained", "+-", "nine tenths of rows", "1-exp(-c2 k)");
  for (const RetainedMass& mass : support.masses)
    text += fmt::format("{:>8}  {:>8.2f} %  {:>8}  {:>8.2f} - {:>6.2f} %  {:>14}\n", mass.neighbours, 100 * mass.share.mean,
                        error_text(100 * mass.share.error), 100 * mass.share.lowest, 100 * mass.share.highest,
                        std::isnan(support.c2) ? "-" : fmt::format("{:.2f} %", 100 * surface_law(support, mass.neighbours)));
  text += fmt::format("\n{:>8}  {:>10}  {:>8}  {:>21}  {:>10}\n", "tau", "k*", "+-", "nine tenths of rows", "rho");
  for (const SupportCount& count : support.counts)
    text +=
        fmt::format("{:>8.2g}  {:>10.5g}  {:>8}  {:>9.5g} - {:>9.5g}  {:>8.4g} %\n", count.tau, count.neighbours.mean,
                    error_text(count.neighbours.error), count.neighbours.lowest, count.neighbours.highest, 100 * count.density);
  return text;
}

nlohmann::ordered_json to_json(const KernelSupport& support, double beta) {
  using Json = nlohmann::ordered_json;
  Json masses = Json::array(), counts = Json::array();
  for (const RetainedMass& mass : support.masses)
    masses.push_back(
        {{"k", mass.neighbours}, {"retained", spread_json(mass.share)}, {"law", surface_law(support, mass.neighbours)}});
  for (const SupportCount& count : support.counts)
    counts.push_back({{"tau", count.tau}, {"k_star", spread_json(count.neighbours)}, {"rho", count.density}});
  return {
      {"n", support.n},   {"beta", beta},     {"rows", support.rows.size()},          {"row_mass", spread_json(support.row_mass)},
      {"masses", masses}, {"c2", support.c2}, {"c2_departure", support.c2_departure}, {"support", counts}};
}

// The sampled rows and a piece of all are held, and distances of the sampled rows to twice the largest number of neighbours.
void require_memory(const PointSource& points, const SupportOptions& options) {
  const std::size_t measured = options.rows == 0 ? points.rows() : std::min(options.rows, points.rows());
  std::size_t neighbours = 0;
  for (const std::size_t k : options.neighbours) neighbours = std::max(neighbours, std::min(2 * k, points.rows()));
  const double needed = 8 * (static_cast<double>(measured) + 2) * static_cast<double>(points.dimension()) +
                        8 * static_cast<double>(measured) * static_cast<double>(neighbours);
  const auto free = static_cast<double>(available_memory_bytes());
  if (free > 0 && needed > free)
    throw Error(Failure::memory,
                fmt::format("{} measured of {} need about {} of memory, and {} are free", counted(measured, "row"),
                            counted_shape(points.rows(), points.dimension()), bytes_text(needed), bytes_text(free)),
                "measure fewer rows (--rows) or fewer neighbours (--neighbours), or give fewer columns");
}

int run_support(const SupportArguments& arguments) {
  const std::optional<double> beta = arguments.bandwidth.value("flashdiffusion fit chooses one, and info prints it");
  if (!beta)
    throw Error(Failure::misuse, "support needs a bandwidth", "add --beta B; flashdiffusion fit chooses one, and info prints it");
  SupportOptions options = arguments.options;
  if (arguments.rows != "all") {
    const std::string wrong = whole_number(arguments.rows);
    if (!wrong.empty() || std::stoull(arguments.rows) == 0)
      throw Error(Failure::misuse, fmt::format("--rows {}: must be a number above zero, or all", arguments.rows),
                  "400 is the default");
    options.rows = std::stoull(arguments.rows);
  } else {
    options.rows = 0;
  }
  options.threads = checked_threads(arguments.threads);
  ProgressDisplay display(arguments.quiet);
  options.observer = &display;
  std::unique_ptr<PointSource> points;
  {
    LeaveAtOnce blocking;
    points = interruptible(open_points(arguments.points, arguments.read.options(),
                                       [&](const PointSource& found) { require_memory(found, options); }));
  }
  if (!arguments.quiet)
    for (const std::string& note : notes_of(*points)) remark("note: " + note);
  const KernelSupport support = kernel_support(*points, *beta, options);
  display.clear();
  throw_if_interrupted();
  print_result(arguments.json ? to_json(support, *beta).dump(2) + "\n" : to_text(support, *beta));
  return done;
}

}  // namespace

Action declare_support(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<SupportArguments>();
  app.add_option("points", arguments->points, "files of points, as for fit")->type_name("POINTS")->required();
  arguments->read.declare(app);
  arguments->bandwidth.declare(app, "Bandwidth of exp(-beta |x-y|^2), one of");
  app.add_option("--neighbours,--neighbors", arguments->options.neighbours, "numbers of neighbours k, a list")
      ->check(positive_whole_number)
      ->type_name("K,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--tau", arguments->options.tolerances, "kernel values that count as support, a list")
      ->check(real_number)
      ->type_name("T,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--rows", arguments->rows, "rows to measure, a random sample; or all")->type_name("N")->capture_default_str();
  app.add_option("--seed", arguments->options.seed, "of the sample")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_option("--threads", arguments->threads, "0: all cores; the result does not depend on it")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no progress, no remarks");
  app.footer(support_footer);
  return [arguments] { return run_support(*arguments); };
}

}  // namespace fd::cli
