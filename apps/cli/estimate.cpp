// flashdiffusion estimate: time, memory and passes of a fit on this machine, before running it.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/estimate.hpp>

#include "base/counted.hpp"
#include "cli/fit_arguments.hpp"
#include "cli/read_arguments.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/validators.hpp"
#include "fit/check_options.hpp"
#include "fit/forecast.hpp"
#include "fit/resources.hpp"
#include "io/open_points.hpp"

namespace fd::cli {
namespace {

struct EstimateArguments {
  FitArguments fit;
  ReadArguments read;
  std::vector<std::string> points;
  double link = 1.25;
  bool json = false;
};

constexpr const char* estimate_footer =
    R"(Either files of points as for fit, or two numbers: rows and columns of points that do not exist yet.

Examples:
  flashdiffusion estimate points.npy -k 8
  flashdiffusion estimate 1000000 32 -k 8
  flashdiffusion estimate 10000000 32 -k 8 --ranks 16 --link 12.5
  flashdiffusion estimate points.npy --beta 0.5 -k 64 --precision fp64)";

bool is_count(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }) &&
         !std::filesystem::exists(word);
}

std::size_t count_of(const std::string& word) {
  std::size_t count = 0;
  if (std::from_chars(word.data(), word.data() + word.size(), count).ec != std::errc())
    throw Error(Failure::misuse, fmt::format("{} is more rows or columns than any table has", word),
                "for instance: estimate 100000 32");
  return count;
}

int run_estimate(const EstimateArguments& arguments) {
  std::optional<LeaveAtOnce> reading(std::in_place);  // until the result is printed
  Options options = arguments.fit.options();
  options.link_bytes_per_second = 1e9 * arguments.link;
  Forecast forecast;
  std::size_t rows = 0, dimension = 0;
  if (arguments.points.size() == 1 && is_count(arguments.points[0]))
    throw Error(Failure::misuse, fmt::format("{} is one number: rows and columns are needed", arguments.points[0]),
                "for instance: estimate 100000 32");
  if (arguments.points.size() == 2 && is_count(arguments.points[0]) && is_count(arguments.points[1])) {
    rows = count_of(arguments.points[0]);
    dimension = count_of(arguments.points[1]);
    arguments.fit.check_rows(rows);
    if (dimension == 0) throw Error(Failure::misuse, "points need at least one column", "for instance: estimate 100000 32");
    forecast = estimate(rows, dimension, options);
  } else {
    // a sample of very many rows takes a while: what all of them would need is said first
    const auto source = open_points(arguments.points, arguments.read.options(), [&](const PointSource& points) {
      arguments.fit.check_rows(points.rows());
      const std::string complaint = memory_complaint(points.rows(), points.dimension(), checked_options(options, points.rows()));
      if (!complaint.empty()) remark("note: " + complaint);
    });
    for (const std::string& note : notes_of(*source)) remark("note: " + note);
    rows = source->rows();
    dimension = source->dimension();
    arguments.fit.check_rows(rows);
    forecast = estimate(*source, options);
  }
  options = checked_options(options, rows);
  for (const std::string& line : taken_otherwise(options, rows)) remark("note: " + line);
  const double free = static_cast<double>(available_memory_bytes());
  const bool too_much =
      forecast.ranks > 1 ? free > 0 && forecast.memory_bytes > free : !memory_complaint(rows, dimension, options).empty();
  reading.reset();
  if (arguments.json) {
    const nlohmann::ordered_json document = {
        {"n", rows},
        {"dimension", dimension},
        {"modes", options.modes},
        {"seconds", forecast.seconds},
        {"memory_bytes", static_cast<std::uint64_t>(std::min(forecast.memory_bytes, 0x1p63))},
        {"free_bytes", static_cast<std::uint64_t>(free)},
        {"fits_in_memory", !too_much},
        {"passes", forecast.passes},
        {"full_passes", forecast.full_passes},
        {"columns", forecast.columns},
        {"pairs_per_second", forecast.pairs_per_second},
        {"ranks", forecast.ranks},
        {"efficiency", forecast.efficiency}};
    print_result(document.dump(2) + "\n");
    return done;
  }
  std::string text = row_text("points", counted(rows, "row") + ", " + counted(dimension, "column"));
  text += row_text("passes", fmt::format("about {} over the kernel, {} of them over all rows, {} columns", forecast.passes,
                                         forecast.full_passes, forecast.columns));
  text += row_text("time", fmt::format("about {}, to within a factor of two ({:.3g} Gpairs/s with one vector)",
                                       duration_text(forecast.seconds), forecast.pairs_per_second / 1e9));
  if (forecast.ranks > 1)
    text += row_text("ranks",
                     fmt::format("{} machines like this one, {:.3g} GB/s apart: {:.0f} % of their sum in a pass over all rows",
                                 forecast.ranks, arguments.link, 100 * forecast.efficiency));
  text += row_text(
      "memory", fmt::format("about {}{}{}", bytes_text(forecast.memory_bytes),
                            free > 0 ? fmt::format("; {} are free", bytes_text(free)) : "", too_much ? ": fit will refuse" : ""));
  print_result(text);
  return done;
}

}  // namespace

Action declare_estimate(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<EstimateArguments>();
  app.add_option("points", arguments->points, "files of points, or the numbers of rows and columns")
      ->type_name("POINTS")
      ->required();
  arguments->read.declare(app);
  arguments->fit.declare(app);
  app.add_option("--link", arguments->link, "gigabytes a second between two of --ranks machines like this one")
      ->check(positive_number)
      ->type_name("GB/S")
      ->capture_default_str();
  app.add_flag("--json", arguments->json, "one JSON document on standard output")->group("Output");
  app.footer(estimate_footer);
  return [arguments] { return run_estimate(*arguments); };
}

}  // namespace fd::cli
