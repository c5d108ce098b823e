// flashdiffusion fit: points in, model out.
#include <chrono>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/checkpoint.hpp>
#include <flashdiffusion/fit.hpp>

#include "cli/fit_arguments.hpp"
#include "cli/page_file.hpp"
#include "cli/progress_record.hpp"
#include "cli/provenance.hpp"
#include "cli/read_arguments.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/program.hpp"
#include "common/program_ranks.hpp"
#include "common/validators.hpp"
#include "fit/check_options.hpp"
#include "fit/forecast.hpp"
#include "io/atomic_file.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"

namespace fd::cli {
namespace {

struct FitVerbArguments {
  FitArguments fit;
  ReadArguments read;
  std::vector<std::string> points;
  std::string output, coordinates, report, log, checkpoint;
  double checkpoint_every = -1;
  bool no_checkpoint = false, json = false, json_progress = false, quiet = false;
};

constexpr const char* fit_footer =
    R"(POINTS: a.npy, a.npz (a.npz:name), a.csv, a.tsv, a.txt (also .gz), a.h5:/path, a.h5ad:/path, or - for text on standard
input; several are stacked in order.

Examples:
  flashdiffusion fit points.npy -k 8 -o model.h5
  flashdiffusion fit points.npy --beta 0.45 -k 8 -o model.h5
  flashdiffusion fit cells.h5ad:/obsm/X_pca --sigma 2 -o model.h5
  flashdiffusion fit a.csv b.csv --epsilon 0.5 --epsilon-convention datafold --json -o model.h5
  flashdiffusion fit cells.csv --missing drop-rows -o model.h5 --coordinates coordinates.csv
  cut -f 2-5 table.tsv | flashdiffusion fit - --beta 1 -o model.h5)";

// The library knows rows and columns of points it cannot use, not where they came from.
Model fit_named(PointSource& source, const std::vector<std::string>& files, const Options& options) {
  try {
    return fit(source, options);
  } catch (const Error& error) {
    if (error.kind() != Failure::input || std::string(error.what()).rfind(files.front(), 0) == 0)
      throw;  // a file that names itself
    const std::string stacked = files.size() > 1 ? " (stacked)" : "";
    throw Error(error.kind(), fmt::format("{}{}: {}", fmt::join(files, ", "), stacked, error.what()), error.hint());
  }
}

// A table of numbers is what somebody expects who names the output so.
void check_model_name(const std::string& output) {
  for (const std::string suffix : {".npy", ".npz", ".csv", ".tsv", ".txt"})
    if (output.size() > suffix.size() && output.compare(output.size() - suffix.size(), suffix.size(), suffix) == 0)
      throw Error(Failure::misuse, fmt::format("--output {}: a model is an HDF5 file", output),
                  fmt::format("name it .h5; --coordinates {} writes the coordinates as a table", output));
}

std::string checkpoint_name(const FitVerbArguments& arguments) {
  if (arguments.no_checkpoint || arguments.output.empty()) return arguments.checkpoint;
  return arguments.checkpoint.empty() ? arguments.output + ".checkpoint" : arguments.checkpoint;
}

// What is written replaces neither points nor another result.
void check_distinct(const FitVerbArguments& arguments) {
  const std::vector<Output> outputs = {{"--output", arguments.output},
                                       {"--coordinates", arguments.coordinates},
                                       {"--report", arguments.report},
                                       {"--log", arguments.log},
                                       {"--checkpoint", checkpoint_name(arguments)}};
  for (const Output& output : outputs) refuse_overwriting(output.path, arguments.points, output.what);
  refuse_one_file(outputs);
}

// Where a fit keeps what it has found so far: where that was asked for, where an earlier one left something, and beside the model where the fit
// will take long.
class KeptState {
 public:
  KeptState(const FitVerbArguments& arguments, Options& options) {
    if (arguments.no_checkpoint) {
      if (!arguments.checkpoint.empty())
        throw Error(Failure::misuse, "--checkpoint and --no-checkpoint contradict each other", "give one of them");
      return;
    }
    constexpr double long_seconds = 600;
    const bool asked = !arguments.checkpoint.empty();
    const std::string path = checkpoint_name(arguments);
    if (asked) AtomicFile check(path);
    const bool there = exists(path);
    file_ = std::make_unique<CheckpointFile>(path);
    options.checkpoint = file_.get();
    options.checkpoint_from = asked || there ? 0 : long_seconds;
    options.checkpoint_every = arguments.checkpoint_every;
  }

  Error interrupted() const {
    if (left().empty()) return {Failure::interrupted, "interrupted"};
    return {Failure::interrupted, fmt::format("interrupted; {} holds what was found so far", left()),
            "the same command goes on from there"};
  }

  // The model is where it belongs.
  void remove(Observer& observer) {
    try {
      if (file_) file_->remove();
    } catch (const Error& error) {
      observer.note(fmt::format("{}; it is no longer needed", error.what()));
    }
  }

 private:
  // What an interrupted fit leaves behind; empty: nothing.
  std::string left() const { return file_ && exists(file_->name()) ? file_->name() : std::string(); }

  static bool exists(const std::string& path) {
    std::error_code unknown;
    return std::filesystem::exists(path, unknown) || unknown;  // what cannot be looked at is the reader's to refuse
  }
  std::unique_ptr<CheckpointFile> file_;
};

int fit_and_write(const FitVerbArguments& arguments, const std::vector<std::string>& command, ProgressRecord& display) {
  const auto start = std::chrono::steady_clock::now();
  Options options = arguments.fit.options();
  options.comm = program_ranks();
  if (arguments.output.empty()) throw Error(Failure::misuse, "fit needs a name for the model it makes", "add -o model.h5");
  refuse_standard_output("--output", arguments.output, "a model, an HDF5 file,");
  refuse_standard_output("--report", arguments.report, "the report, beside a model,");
  refuse_standard_output("--coordinates", arguments.coordinates, "what belongs to a model");
  refuse_standard_output("--checkpoint", arguments.checkpoint, "what a fit goes on from");
  check_model_name(arguments.output);
  { AtomicFile check(arguments.output); }  // a folder that cannot be written to is found out now, not after the fit
  if (!arguments.coordinates.empty()) {
    check_table_name(arguments.coordinates);
    AtomicFile check(arguments.coordinates);
  }
  if (!arguments.report.empty()) AtomicFile check(arguments.report);
  std::unique_ptr<PointSource> source;
  std::vector<InputFile> inputs;
  {
    LeaveAtOnce blocking;
    // before anything is read, rows with missing values included
    source = interruptible(open_points(arguments.points, arguments.read.options(), [&](const PointSource& points) {
      arguments.fit.check_rows(points.rows());
      require_memory(points.rows(), points.dimension(), checked_options(options, points.rows()));
    }));
    arguments.fit.check_rows(source->rows());
    inputs = describe_inputs(arguments.points);
  }
  const std::vector<std::string> notes = notes_of(*source), columns = source->column_names();
  for (const std::string& note : notes) display.note(note);
  for (const std::string& note : arguments.fit.without_effect()) display.note(note);
  options.observer = &display;
  KeptState kept(arguments, options);
  Model model = [&] {
    try {
      return fit_named(*source, arguments.points, options);
    } catch (const Error& error) {
      if (error.kind() != Failure::interrupted) throw;
      throw kept.interrupted();
    }
  }();
  source.reset();
  display.clear();
  if (interrupt_requested()) throw kept.interrupted();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  model.provenance = provenance_text(command, options, inputs, notes, columns, wall);
  save_model(model, arguments.output);
  try {
    if (!arguments.coordinates.empty()) write_table(model.embedding(), arguments.coordinates, model.names);
    if (!arguments.report.empty()) write_page(make_page(model, {}), arguments.report);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}; the model was written to {}", error.what(), arguments.output), error.hint());
  }
  kept.remove(display);
  std::string written = arguments.output;
  for (const std::string* further : {&arguments.coordinates, &arguments.report})
    if (!further->empty()) written += ", " + *further;

  if (arguments.json) {
    nlohmann::ordered_json document = summary_json(model);
    document["remarks"] = remarks_json(model);
    document["output"] = arguments.output;
    if (!arguments.coordinates.empty()) document["coordinates"] = arguments.coordinates;
    if (!arguments.report.empty()) document["report"] = arguments.report;
    print_result(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", written);
  } else if (!arguments.quiet) {
    print_result(summary_text(model, arguments.fit.bandwidth.origin()) + "\n" + row_text("written", arguments.output) +
                     (arguments.coordinates.empty() ? "" : row_text("", arguments.coordinates)) +
                     (arguments.report.empty() ? "" : row_text("", arguments.report)),
                 written);
  }
  if (model.converged) {
    display.remarks(model);
    display.end("done", done, "");
    return done;
  }
  const std::string outcome = model.outcome.empty() ? "not all modes reached the tolerance" : model.outcome;
  complain(outcome,
           fmt::format("{} was written all the same; its residuals say how far each mode can be trusted", arguments.output));
  display.remarks(model);
  display.end("numbers", numbers, outcome);
  return numbers;
}

// Whatever comes of the fit, log and progress end with it.
int run_fit(const FitVerbArguments& arguments, const std::vector<std::string>& command) {
  if (arguments.json_progress) speak_json();
  refuse_standard_output("--log", arguments.log, "a log, which --json-progress prints,");
  check_distinct(arguments);  // before the log is opened, which may be one of them
  ProgressRecord display(arguments.quiet, arguments.json_progress, arguments.log);
  try {
    return fit_and_write(arguments, command, display);
  } catch (const Error& error) {
    display.clear();
    const int status = tell_failure(error);
    const bool stopped = error.kind() == Failure::interrupted;
    display.end(stopped ? "interrupted" : "failed", status,
                stopped && error.hint().empty() ? "nothing was written" : error.what());
    return status;
  }
}

}  // namespace

Action declare_fit(CLI::App& app, const std::vector<std::string>& command) {
  auto arguments = std::make_shared<FitVerbArguments>();
  app.add_option("points", arguments->points, "files of points, a row each")->type_name("POINTS")->required();
  arguments->read.declare(app);
  arguments->fit.declare(app);
  app.add_option("-o,--output", arguments->output, "the model file to write")->type_name("FILE")->group("Output");
  app.add_option("--coordinates", arguments->coordinates,
                 "diffusion coordinates of the points (lambda psi): .csv, .tsv, .txt, .npy, .h5")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--report", arguments->report, "a page that shows what was found, as report makes it")
      ->type_name("FILE")
      ->group("Output");
  app.add_option(
         "--checkpoint", arguments->checkpoint,
         "keep here what was found so far: the same command, given again after an interruption, goes on from there. Default: "
         "MODEL.checkpoint, for fits of more than ten minutes")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--checkpoint-every", arguments->checkpoint_every, "seconds between two writings; default: a few minutes")
      ->check(non_negative_number)
      ->type_name("SECONDS")
      ->group("Output");
  app.add_flag("--no-checkpoint", arguments->no_checkpoint, "keep nothing, and look for nothing that was kept")->group("Output");
  app.add_flag("--json", arguments->json, "one JSON document on standard output")->group("Output");
  app.add_flag("--json-progress", arguments->json_progress, "progress and notes as JSON, an object a line, on standard error")
      ->group("Output");
  app.add_option("--log", arguments->log, "a file to which progress and notes are appended")->type_name("FILE")->group("Output");
  app.add_flag("--quiet", arguments->quiet, "no progress, no remarks, no table")->group("Output");
  app.footer(fit_footer);
  return [arguments, &command] { return run_fit(*arguments, command); };
}

}  // namespace fd::cli
