// The benchmarks, a file each; main.cpp names them. Each prints a table, or one JSON document with --json, with the machine in the
// header; compares in one run; and honours an interrupt within a second.
#pragma once

#include "common/program.hpp"

namespace fd::cli {

Action declare_xgemm(CLI::App& app, const std::vector<std::string>& command);
Action declare_solver(CLI::App& app, const std::vector<std::string>& command);
Action declare_accuracy(CLI::App& app, const std::vector<std::string>& command);
Action declare_fit(CLI::App& app, const std::vector<std::string>& command);
Action declare_bandwidth(CLI::App& app, const std::vector<std::string>& command);

}  // namespace fd::cli
