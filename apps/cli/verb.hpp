// The verbs of the program, a file each; main.cpp names them.
#pragma once

#include "common/program.hpp"

namespace fd::cli {

Action declare_fit(CLI::App& app, const std::vector<std::string>& command);
Action declare_transform(CLI::App& app, const std::vector<std::string>& command);
Action declare_report(CLI::App& app, const std::vector<std::string>& command);
Action declare_decode(CLI::App& app, const std::vector<std::string>& command);
Action declare_support(CLI::App& app, const std::vector<std::string>& command);
Action declare_info(CLI::App& app, const std::vector<std::string>& command);
Action declare_estimate(CLI::App& app, const std::vector<std::string>& command);
Action declare_demo(CLI::App& app, const std::vector<std::string>& command);
Action declare_selftest(CLI::App& app, const std::vector<std::string>& command);

}  // namespace fd::cli
