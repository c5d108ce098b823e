// What computes, as the command line knows it: the names --backend takes, and what stands behind them on this machine.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/options.hpp>

namespace fd::cli {

std::vector<std::string> backend_choices();  // "auto" and every back-end of this build

struct BackendInUse {
  std::string description, isa;
};
BackendInUse backend_in_use(const Options& options);

}  // namespace fd::cli
