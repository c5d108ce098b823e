// The verb `reproduce`: the paper's experiments, ours beside its figures. All that the program sees of this folder.
#pragma once

#include "common/program.hpp"

namespace fd::cli {

Action declare_reproduce(CLI::App& app, const std::vector<std::string>& command);

}  // namespace fd::cli
