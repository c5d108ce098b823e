// Where a model came from: command, options, version, machine, input files and what was taken for what in them, names of their columns, wall
// time and date, as the JSON text that the model file keeps.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>

#include "io/open_points.hpp"

namespace fd::cli {

std::string utc_now();  // 2026-01-31T23:59:59Z

std::string provenance_text(const std::vector<std::string>& command, const Options& options, const std::vector<InputFile>& inputs,
                            const std::vector<std::string>& notes, const std::vector<std::string>& columns, double wall_seconds);

// The names of the columns that were fitted, under "feature_names" as the Python package writes them; empty where they are not known.
std::vector<std::string> fitted_columns(const Model& model);

}  // namespace fd::cli
