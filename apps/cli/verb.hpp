// A verb of the program: its name, one line of help, and how it declares its options. Declaring returns what to do once the
// command line has been read; that returns the exit status or throws fd::Error. A new verb is a file and a row in main.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace fd::cli {

using Action = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;
  Action (*declare)(CLI::App& app, const std::vector<std::string>& command);  // command: the words as typed
};

Action declare_fit(CLI::App& app, const std::vector<std::string>& command);
Action declare_transform(CLI::App& app, const std::vector<std::string>& command);
Action declare_info(CLI::App& app, const std::vector<std::string>& command);
Action declare_estimate(CLI::App& app, const std::vector<std::string>& command);
Action declare_demo(CLI::App& app, const std::vector<std::string>& command);
Action declare_bench(CLI::App& app, const std::vector<std::string>& command);
Action declare_selftest(CLI::App& app, const std::vector<std::string>& command);
Action declare_completions(CLI::App& app, const std::vector<std::string>& command);

}  // namespace fd::cli
