// The machine and what computes on it, as results are labelled with.
#pragma once

#include <nlohmann/json.hpp>

#include <flashdiffusion/options.hpp>

namespace fd::cli {

nlohmann::json machine_json(const Options& options);  // cpu model, cores, instruction set, back-end

}  // namespace fd::cli
