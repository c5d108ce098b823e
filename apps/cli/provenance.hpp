// Where a model came from: command, options, version, machine, input files and what was taken for what in them, wall time and date, as
// the JSON text that the model file keeps.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/options.hpp>

#include "io/open_points.hpp"

namespace fd::cli {

std::string utc_now();  // 2026-01-31T23:59:59Z

std::string provenance_text(const std::vector<std::string>& command, const Options& options, const std::vector<InputFile>& inputs,
                            const std::vector<std::string>& notes, double wall_seconds);

}  // namespace fd::cli
