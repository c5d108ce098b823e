#include "cli/placing.hpp"

#include <CLI/CLI.hpp>

#include "io/drop_missing.hpp"

namespace fd::cli {

void declare_placing(CLI::App& app, const std::string& file, PlacingFlags& flags) {
  auto* in_order = app.add_flag("--in-order", flags.in_order,
                                "lines of " + file + " are in the model's order, whatever names or numbers they hold");
  app.add_flag("--by-name", flags.by_name,
               "lines of " + file + " are placed by the first column that holds the names of all rows")
      ->excludes(in_order);
}

LabelledRows labelled_rows(const Model& model, const PlacingFlags& flags) {
  const Placing placing = flags.in_order ? Placing::in_order : flags.by_name ? Placing::by_name : Placing::if_certain;
  return {model.n, model.names, placing, rows_left_out(model.provenance)};
}

}  // namespace fd::cli
