// flashdiffusion decode: what the modes of a model say of targets measured on the same rows.
#include <flashdiffusion/decode.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analysis/angle_unit.hpp"
#include "base/counted.hpp"
#include "cli/placing.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/validators.hpp"
#include "io/atomic_file.hpp"
#include "io/labels.hpp"
#include "io/write_table.hpp"

namespace fd::cli {
namespace {

struct DecodeArguments {
  std::string model, output, circular, split = "random";
  std::vector<std::string> targets, columns;
  std::vector<std::size_t> modes;
  std::optional<double> ridge;
  std::size_t folds = 5;
  std::uint64_t seed = 42;
  PlacingFlags placing;
  bool trust_unit = false, json = false, quiet = false;
};

constexpr const char* decode_footer =
    R"(A target y is decoded as mean(y) + (psi - mean(psi)) W from the first m modes, with weights W of least squares and a penalty
ridge * tr(G) / m on their squares; G is the centred Gram matrix of the modes. Each fold of the rows is decoded by what was learnt from the
others, the penalty included, and every error is that of rows held out. Angles are decoded as cosine and sine; their errors go the shorter
way round. Rows without a target (NA, NaN) are decoded too.
Rows that follow each other in time are near copies of each other: --split blocks holds out runs of them.

TARGETS: text with a line a row of the model (header recognised; a column that holds the names of all rows places the lines; what leaves a
doubt is refused, and you settle it by --in-order or --by-name), or numbers as .npy, .npz or .h5. Several files are one table, all text or all arrays.

Examples:
  flashdiffusion decode model.h5 energy.csv -o decoded.csv
  flashdiffusion decode model.h5 dihedrals.npy --circular rad --split blocks
  flashdiffusion decode model.h5 measured.csv --columns mass,age --modes 4,8,16 --json)";

struct Targets {
  Table values;
  std::vector<std::string> names;
  std::vector<std::size_t> file;   // of each row, among those that were given
  std::vector<std::string> notes;  // how the file was read
};

// The column of that heading; where there is none, of that number, from 1.
std::size_t column_called(const std::string& wanted, const std::vector<Labels>& all, const std::string& file) {
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (all[c].name == wanted) found.push_back(c);
  if (found.size() > 1)
    throw Error(Failure::misuse, fmt::format("--columns {}: {} columns of {} are called so", wanted, found.size(), file),
                fmt::format("name one by its number, {} or {}", found[0] + 1, found[1] + 1));
  if (!found.empty()) return found[0];
  for (std::size_t c = 0; c < all.size(); ++c)
    if (std::to_string(c + 1) == wanted) return c;
  throw Error(Failure::misuse, fmt::format("--columns {}: {} has no such column", wanted, file),
              fmt::format("name columns by their heading or their number, 1 to {}", all.size()));
}

Targets chosen_targets(const DecodeArguments& arguments, const Model& model) {
  std::vector<std::string> notes;
  std::vector<std::size_t> file;
  const std::vector<Labels> all = read_targets(arguments.targets, labelled_rows(model, arguments.placing), &notes, &file);
  std::vector<bool> wanted(all.size(), arguments.columns.empty());
  for (const std::string& name : arguments.columns) wanted[column_called(name, all, arguments.targets[0])] = true;
  std::vector<const Labels*> chosen;
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (!wanted[c]) continue;
    require_numbers(all[c], arguments.targets[0]);
    chosen.push_back(&all[c]);
  }
  Targets targets{Table(model.n, chosen.size(), true), {}, std::move(file), std::move(notes)};
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    targets.names.push_back(chosen[c]->name);
    for (std::size_t i = 0; i < model.n; ++i)
      targets.values.set(i, c, chosen[c]->numbers.empty() ? std::nan("") : chosen[c]->numbers[i]);
  }
  return targets;
}

// Files are judged each by itself.
void check_unit(const Targets& targets, AngleUnit unit, const std::vector<std::string>& files) {
  const UnitDoubt doubt = doubt_of_unit(targets.values, unit, targets.file);
  if (doubt.what.empty()) return;
  const std::string& file = files[doubt.everywhere ? 0 : targets.file[doubt.row]];
  const std::string column =
      doubt.everywhere || targets.names.size() == 1 ? "" : fmt::format(", target \"{}\"", targets.names[doubt.column]);
  if (!doubt.other_unit)
    throw Error(Failure::input, fmt::format("{}{}: {}; row {} has the first", file, column, doubt.what, doubt.row + 1),
                "mend it, or give NaN in its place; --trust-unit, if radians of several turns are meant");
  if (!doubt.everywhere)
    throw Error(Failure::input, fmt::format("{}{}: {}; other angles look like {}", file, column, doubt.what, name(unit)),
                fmt::format("give all angles in one unit, or choose targets of one by --columns; --trust-unit, if all are {}",
                            name(unit)));
  throw Error(Failure::input, fmt::format("{}: {}", file, doubt.what),
              unit == AngleUnit::radians ? "--circular deg, if that is so; --trust-unit, if they are radians of several turns"
                                         : "--circular rad, if that is so; --trust-unit, if they are degrees near to zero");
}

std::string table_text(const Decoding& decoding, const Targets& targets) {
  std::string text = fmt::format("\n{:>6}  {:>9}  {:>11}", "modes", "ridge", "condition");
  for (const std::string& name : targets.names) text += fmt::format("  {:>16}  {:>11}", name.substr(0, 16), "unexplained");
  text += '\n';
  for (const DecodedModes& row : decoding.by_modes) {
    text += fmt::format("{:>6}  {:>9.1e}  {:>11.4g}", row.modes, row.ridge, row.condition);
    for (const DecodeError& error : row.errors)
      text += fmt::format("  {:>16.5g}  {:>11}", error.mean_absolute,
                          std::isnan(error.unexplained) ? std::string("-") : fmt::format("{:.4g}", error.unexplained));
    text += '\n';
  }
  text += fmt::format("{:>6}  {:>9}  {:>11}", "mean", "-", "-");
  for (std::size_t t = 0; t < decoding.guess.size(); ++t)
    text += fmt::format("  {:>16.5g}  {:>11}", decoding.guess[t],
                        std::isnan(decoding.by_modes.front().errors[t].unexplained) ? "-" : "1");
  return text + '\n';
}

nlohmann::ordered_json to_json(const Decoding& decoding, const Targets& targets, const DecodeArguments& arguments) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const DecodedModes& row : decoding.by_modes) {
    Json errors = Json::array();
    for (std::size_t t = 0; t < row.errors.size(); ++t)
      errors.push_back({{"target", targets.names[t]},
                        {"mean_absolute_error", row.errors[t].mean_absolute},
                        {"root_mean_square_error", row.errors[t].root_mean_square},
                        {"unexplained", row.errors[t].unexplained}});
    rows.push_back({{"modes", row.modes}, {"ridge", row.ridge}, {"condition", row.condition}, {"errors", errors}});
  }
  return {{"model", arguments.model},
          {"targets", targets.names},
          {"rows", decoding.rows},
          {"circular", arguments.circular.empty() ? Json() : Json(arguments.circular)},
          {"folds", arguments.folds},
          {"split", arguments.split},
          {"mean_only_error", decoding.guess},
          {"by_modes", rows},
          {"output", arguments.output.empty() ? Json() : Json(arguments.output)}};
}

void require_finite(const Table& decoded, const Targets& targets) {
  for (std::size_t i = 0; i < decoded.rows(); ++i)
    for (std::size_t t = 0; t < decoded.columns(); ++t)
      if (!std::isfinite(decoded(i, t)))
        throw Error(
            Failure::input,
            fmt::format("target \"{}\" has no finite decoded value in row {} (counted from 1): its values are too large, or "
                        "the model is damaged",
                        targets.names[t], i + 1),
            "scale the target; if that changes nothing, repeat the fit");
}

int run_decode(const DecodeArguments& arguments) {
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.json)
    throw Error(Failure::misuse, "-o - and --json both ask for standard output", "write what is decoded to a file");
  if (!arguments.output.empty() && !to_stdout) {
    check_table_name(arguments.output);
    AtomicFile check(arguments.output);
    refuse_overwriting(arguments.output, arguments.targets);
    refuse_overwriting(arguments.output, {arguments.model});
  }
  Model model;
  Targets targets;
  DecodeOptions options;
  Decoding decoding;
  {
    LeaveAtOnce blocking;
    model = load_model(arguments.model);
    targets = chosen_targets(arguments, model);
    if (const auto unit = angle_unit_from_name(arguments.circular)) {
      if (!arguments.trust_unit) check_unit(targets, *unit, arguments.targets);
      options.period = period(*unit);
    }
    options.modes = arguments.modes;
    options.ridge = arguments.ridge;
    options.folds = arguments.folds;
    options.blocks = arguments.split == "blocks";
    options.seed = arguments.seed;
    decoding = decode(model, targets.values, options);
    require_finite(decoding.decoded, targets);
  }

  if (!arguments.quiet)
    for (const std::string& note : targets.notes) remark("note: " + note);
  const TableHeadings headings{"decoded", targets.names};
  if (to_stdout)
    write_csv(
        decoding.decoded, model.names, [](std::string_view text) { print_result(std::string(text)); }, headings);
  else if (!arguments.output.empty()) write_table(decoding.decoded, arguments.output, model.names, headings);
  if (arguments.json) {
    print_result(to_json(decoding, targets, arguments).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                 arguments.output);
  } else if (!arguments.quiet && !to_stdout) {
    std::string text = row_text(
        "rows", fmt::format("{} with targets of {}, {} folds ({})", decoding.rows, model.n, arguments.folds, arguments.split));
    text += row_text("error", fmt::format("mean absolute error on rows held out{}",
                                          options.period ? fmt::format(", in {}", name(*angle_unit_from_name(arguments.circular)))
                                                         : std::string()));
    text += table_text(decoding, targets);
    if (!arguments.output.empty())
      text += row_text("\nwritten", fmt::format("{}  (from {}, each row by a decoder that has not seen it)", arguments.output,
                                                counted(decoding.by_modes.back().modes, "mode")));
    print_result(text, arguments.output);
  }
  return done;
}

}  // namespace

Action declare_decode(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<DecodeArguments>();
  app.add_option("model", arguments->model, "the model file")->type_name("MODEL")->required();
  app.add_option("targets", arguments->targets, "what was measured on the rows of the model, a column a target")
      ->type_name("TARGETS")
      ->required();
  app.add_option("-o,--output", arguments->output,
                 "decoded targets to write: .csv, .tsv, .txt, .npy or .h5; - for csv on standard output")
      ->type_name("FILE");
  app.add_option("--columns", arguments->columns, "targets to decode, by heading or number; all, if not given")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  declare_placing(app, "TARGETS", arguments->placing);
  auto* circular = app.add_option("--circular", arguments->circular, "the targets are angles, in radians (rad) or degrees (deg)")
                       ->type_name("")
                       ->check(CLI::IsMember({"rad", "deg"}));
  app.add_flag("--trust-unit", arguments->trust_unit, "they are in that unit, even where they look like the other")
      ->needs(circular);
  app.add_option(
         "--modes", arguments->modes,
         "leading modes to decode from, a list of numbers, of which -o writes the last; 1, 2, 4 ... and all, if not given")
      ->check(whole_number)
      ->type_name("M")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--ridge", arguments->ridge, "penalty, in units of tr(G) / m; cross-validated, if not given")
      ->check(real_number)
      ->type_name("R");
  app.add_option("--folds", arguments->folds, "parts of the rows, each held out once; at least 3, with --ridge 2")
      ->check(whole_number)
      ->type_name("F")
      ->capture_default_str();
  app.add_option("--split", arguments->split, "folds of random rows, or blocks of rows that follow each other")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember({"random", "blocks"}));
  app.add_option("--seed", arguments->seed, "of the random folds")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no notes, no table");
  app.footer(decode_footer);
  return [arguments] { return run_decode(*arguments); };
}

}  // namespace fd::cli
