// flashdiffusion info: what is in a model, or how large a file of points is and what a fit of it would need. Reads no more of
// the file than that takes.
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/model.hpp>

#include "base/counted.hpp"
#include "cli/read_arguments.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "fit/forecast.hpp"
#include "fit/resources.hpp"
#include "io/open_points.hpp"

namespace fd::cli {
namespace {

struct InfoArguments {
  ReadArguments read;
  std::vector<std::string> files;
  bool json = false;
};

constexpr const char* info_footer = R"(Examples:
  flashdiffusion info model.h5
  flashdiffusion info model.h5 --json | jq .eigenvalues
  flashdiffusion info points.npy)";

// Looks into regular files only: what is read from a pipe is gone for the one who reads its points.
bool is_hdf5(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return false;
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  return file.read(start, sizeof start) && std::string(start, sizeof start) == "\x89HDF\r\n\x1a\n";
}

struct Contents {
  nlohmann::ordered_json document;
  std::string text;
};

Contents describe_model(const Model& model) { return {summary_json(model), summary_text(model)}; }

Contents describe_points(const PointSource& points) {
  const double memory = fit_memory_bytes(points.rows(), points.dimension(), Options{}),
               free = static_cast<double>(available_memory_bytes());
  Contents contents;
  contents.document = {
      {"n", points.rows()}, {"dimension", points.dimension()}, {"fit_memory_bytes", static_cast<std::uint64_t>(memory)}};
  contents.text = row_text("points", counted(points.rows(), "row") + ", " + counted(points.dimension(), "column")) +
                  row_text("a fit needs", fmt::format("about {} of memory", bytes_text(memory)));
  if (free > 0) contents.text += row_text("free now", bytes_text(free) + (memory > free ? ": fit will refuse" : ""));
  const std::vector<std::string> notes = notes_of(points);
  for (std::size_t i = 0; i < notes.size(); ++i) contents.text += row_text(i == 0 ? "read as" : "", notes[i]);
  contents.document["notes"] = notes;
  return contents;
}

// What a file is, tried as one thing, then as the other; where it is neither, what is wrong with it as the first is what is said.
template <class Likely, class Other>
Contents first_or_second(Likely&& likely, Other&& other) {
  try {
    return likely();
  } catch (const Error& error) {
    const Error first = error;
    try {
      return other();
    } catch (const Error&) {
      throw first;
    }
  }
}

// An HDF5 file may be a model or hold points; one of AnnData holds points.
Contents describe(const std::vector<std::string>& files, const ReadOptions& options) {
  const auto as_points = [&] { return describe_points(*open_points(files, options)); };
  if (files.size() != 1 || !is_hdf5(files[0])) return as_points();
  const auto as_model = [&] { return describe_model(load_model(files[0], false)); };
  if (std::filesystem::path(files[0]).extension() == ".h5ad") return first_or_second(as_points, as_model);
  return first_or_second(as_model, as_points);
}

int run_info(const InfoArguments& arguments) {
  const Contents contents = [&] {
    LeaveAtOnce reading;
    return describe(arguments.files, arguments.read.options());
  }();
  print_result(arguments.json ? contents.document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                              : contents.text);
  return done;
}

}  // namespace

Action declare_info(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<InfoArguments>();
  app.add_option("file", arguments->files, "a model, or files of points as for fit")->type_name("FILE")->required();
  arguments->read.declare(app);
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.footer(info_footer);
  return [arguments] { return run_info(*arguments); };
}

}  // namespace fd::cli
