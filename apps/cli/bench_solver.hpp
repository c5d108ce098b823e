// bench solver: what the eigensolver costs in passes, columns and seconds, beside other people's solvers on the same operator.
#pragma once

#include "cli/verb.hpp"

namespace fd::cli {

// Adds the sub-command to `bench`; the action is for when it was asked for.
Action declare_bench_solver(CLI::App& bench);

}  // namespace fd::cli
