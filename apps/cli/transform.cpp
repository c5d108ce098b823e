// flashdiffusion transform: diffusion coordinates of new points under a model.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/model.hpp>

#include "base/counted.hpp"
#include "base/points_checksum.hpp"
#include "cli/provenance.hpp"
#include "cli/read_arguments.hpp"
#include "cli/verb.hpp"
#include "common/backends.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/progress_display.hpp"
#include "common/validators.hpp"
#include "fit/kept_points.hpp"
#include "io/atomic_file.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"

namespace fd::cli {
namespace {

struct TransformArguments {
  ReadArguments read;
  std::string model, output, fitted, backend = "auto";
  std::vector<std::string> points;
  double time = 1;
  std::size_t threads = 0;
  bool quiet = false, json = false;
};

constexpr const char* transform_footer =
    R"(A coordinate is lambda^t psi(x), with psi extended to new points by the same kernel and alpha (Nystroem). A row beyond the
kernel's reach of every fitted one is placed where its nearest fitted rows are, and named. --json lists such rows under beyond_reach, counted
from 0 as all rows in JSON are; sentences count from 1.

Examples:
  flashdiffusion transform model.h5 new.npy -o coordinates.npy
  flashdiffusion transform model.h5 new.csv --time 3 -o coordinates.csv
  flashdiffusion transform model.h5 new.csv -o - | head
  flashdiffusion transform small.h5 new.npy --points fitted.npy -o coordinates.npy   # a model made with --no-points)";

// CRC-32 of the one file a model was fitted to; empty where that does not say.
std::string provenance_crc(const Model& model) {
  const auto document = nlohmann::json::parse(model.provenance, nullptr, false);
  const nlohmann::json::json_pointer place("/inputs/0/crc32");
  if (document.is_discarded() || !document.contains(place) || !document[place].is_string() || document["inputs"].size() != 1)
    return {};
  return document[place].get<std::string>();
}

// Coordinates made with other points than the fitted ones would be wrong without a sign of it.
void check_fitted_points(const Model& model, PointSource& source, const std::string& path, bool quiet) {
  if (model.points_checksum != 0) {
    if (points_checksum(source) == model.points_checksum) return;
    throw Error(
        Failure::input,
        fmt::format("--points {}: its shape is that of the fitted points, its values or the order of its rows are not", path),
        "give the file the model was fitted to");
  }
  // Models of earlier versions know the file's bytes only.
  const auto inputs = describe_inputs({path});
  if (!inputs.empty() && !inputs[0].crc32.empty() && inputs[0].crc32 == provenance_crc(model)) return;
  if (!quiet)
    remark(fmt::format(
        "note: this model has no checksum of its points, so whether {} holds them, in their order, was not checked", path));
}

// The points a model was fitted to, centred as it centred them.
void restore_points(Model& model, const std::string& path, const ReadOptions& options, bool quiet) {
  std::unique_ptr<PointSource> source;
  {
    LeaveAtOnce blocking;
    source = interruptible(open_points({path}, options));
  }
  if (source->rows() != model.n || source->dimension() != model.dimension)
    throw Error(Failure::input,
                fmt::format("--points {}: {}, but the model was fitted to {}", path,
                            counted_shape(source->rows(), source->dimension()), counted_shape(model.n, model.dimension)),
                "give the file the model was fitted to");
  check_fitted_points(model, *source, path, quiet);
  model.points = kept_points(*source, model.mean, model.beta, traits(model.precision).wide_panels);
}

int run_transform(const TransformArguments& arguments) {
  if (!std::isfinite(arguments.time) || arguments.time < 0)
    throw Error(Failure::misuse, fmt::format("--time {}: must be a finite number, zero or above", arguments.time),
                "1 is the default");
  if (arguments.output.empty())
    throw Error(Failure::misuse, "transform needs a name for the coordinates it makes", "add -o coordinates.npy (or .csv)");
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.json)
    throw Error(Failure::misuse, "-o - and --json both ask for standard output", "write the coordinates to a file");
  if (!to_stdout) {
    check_table_name(arguments.output);
    AtomicFile check(arguments.output);
  }
  refuse_overwriting(arguments.output, arguments.points);
  refuse_overwriting(arguments.output, {arguments.model, arguments.fitted});

  Model model;
  std::unique_ptr<PointSource> fresh;
  {
    LeaveAtOnce blocking;
    model = load_model(arguments.model);
    ReadOptions options = arguments.read.options();
    options.columns = fitted_columns(model);
    options.columns_of = arguments.model;
    fresh = interruptible(open_points(arguments.points, options));
  }
  if (fresh->dimension() != model.dimension)
    throw Error(Failure::input,
                fmt::format("{}: points of {}, but {} was fitted to points of {}", arguments.points.front(),
                            counted(fresh->dimension(), "column"), arguments.model, model.dimension),
                "give points with the columns of the fit, in the same order");
  if (!arguments.fitted.empty()) restore_points(model, arguments.fitted, arguments.read.options(), arguments.quiet);
  else if (model.points.empty())
    throw Error(Failure::misuse, fmt::format("{} was written with --no-points", arguments.model),
                "add --points FILE, the file the model was fitted to");

  if (!arguments.quiet)
    for (const std::string& note : notes_of(*fresh)) remark("note: " + note);
  ProgressDisplay display(arguments.quiet);
  Options options;
  options.precision = {model.precision};
  options.backend = arguments.backend;
  options.threads = checked_threads(arguments.threads);
  options.observer = &display;
  std::vector<std::size_t> beyond_reach;
  const Table coordinates = model.transform(*fresh, arguments.time, options, &beyond_reach);
  display.clear();
  throw_if_interrupted();
  if (to_stdout) write_csv(coordinates, fresh->row_names(), [](std::string_view text) { print_result(std::string(text)); });
  else write_table(coordinates, arguments.output, fresh->row_names());

  if (arguments.json) {
    const nlohmann::ordered_json document = {{"rows", coordinates.rows()}, {"modes", coordinates.columns()},
                                             {"time", arguments.time},     {"beyond_reach", beyond_reach},
                                             {"model", arguments.model},   {"output", arguments.output}};
    print_result(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", arguments.output);
  } else if (!arguments.quiet && !to_stdout) {
    print_result(fmt::format("{} of {} at time {:g} written to {}\n", counted(coordinates.rows(), "row"),
                             counted(coordinates.columns(), "coordinate"), arguments.time, arguments.output),
                 arguments.output);
  }
  if (beyond_reach.size() < coordinates.rows()) return done;
  complain("every row is beyond the kernel's reach of the fitted ones",
           fmt::format("{} tells them apart by their nearest fitted rows alone; were they scaled as those of the fit?",
                       arguments.output));
  return numbers;
}

}  // namespace

Action declare_transform(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<TransformArguments>();
  app.add_option("model", arguments->model, "the model file")->type_name("MODEL")->required();
  app.add_option("points", arguments->points, "files of new points, as for fit")->type_name("POINTS")->required();
  app.add_option("-o,--output", arguments->output,
                 "coordinates to write: .csv, .tsv, .txt, .npy or .h5; - for csv on standard output")
      ->type_name("FILE");
  arguments->read.declare(app);
  app.add_option("--time", arguments->time, "diffusion time t of lambda^t")
      ->check(real_number)
      ->type_name("T")
      ->capture_default_str();
  app.add_option("--points", arguments->fitted, "the fitted points, where the model was made without them")->type_name("FILE");
  app.add_option("--backend", arguments->backend, "what computes")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember(backend_choices()));
  app.add_option("--threads", arguments->threads, "0: all cores")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no progress, no remarks");
  app.footer(transform_footer);
  return [arguments] { return run_transform(*arguments); };
}

}  // namespace fd::cli
