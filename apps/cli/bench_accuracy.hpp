// bench accuracy: how well the kernel product keeps its promise at a size no dense reference reaches.
#pragma once

#include "cli/verb.hpp"

namespace fd::cli {

// Adds the sub-command to `bench`; the action is for when it was asked for.
Action declare_bench_accuracy(CLI::App& bench);

}  // namespace fd::cli
