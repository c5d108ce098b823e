// The experiments, a file each; experiments.cpp names them.
#pragma once

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

Running declare_t6(CLI::App& app);
Running declare_alanine(CLI::App& app);
Running declare_swissroll(CLI::App& app);
Running declare_knn(CLI::App& app);
Running declare_keops(CLI::App& app);

}  // namespace fd::reproduce
