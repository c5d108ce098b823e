// A command-line program as a table of verbs: finds the verb, lets it read its options, and turns whatever happens into an exit
// status and at most a few lines on standard error. Both programs of the project are such tables.
//
// Does not know: any verb but `completions`, which is made from the table itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>

namespace CLI {
class App;
}

namespace fd::cli {

using Action = std::function<int()>;

// Its name, one line of help, and how it declares its options. Declaring returns what to do once the command line has been read; that
// returns the exit status or throws fd::Error.
struct Verb {
  const char* name;
  const char* summary;
  Action (*declare)(CLI::App& app, const std::vector<std::string>& command);  // command: the words as typed
};

// A word that is no verb here, and what to type instead.
struct Elsewhere {
  const char* word;
  const char* hint;
};

struct Program {
  const char* name;
  const char* summary;
  const char* footer;
  std::vector<Verb> verbs;
  std::vector<Elsewhere> elsewhere{};
};

// Called once, by main: prepares streams and signals, then runs. Never throws.
int run_program(const Program& program, int argc, char** argv);

Action declare_completions(CLI::App& app, const std::vector<std::string>& command);

// Says what was wrong and what to do, on standard error, and returns the exit status.
int tell_failure(const Error& error);

}  // namespace fd::cli
