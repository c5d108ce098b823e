#include "common/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/version.hpp>

#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/help_formatter.hpp"
#include "common/interrupt.hpp"
#include "common/suggestion.hpp"

namespace fd::cli {
namespace {

[[noreturn]] void unknown(const std::string& kind, const std::string& word, const std::vector<std::string>& known,
                          const std::string& help) {
  const std::string near = closest(word, known);
  throw Error(Failure::misuse, fmt::format("unknown {} {}", kind, word),
              near.empty() ? fmt::format("see {}", help) : fmt::format("did you mean {}? See {}", near, help));
}

[[noreturn]] void unknown_verb(const Program& program, const std::string& word, const std::vector<std::string>& known) {
  for (const Elsewhere& place : program.elsewhere)
    if (word == place.word) throw Error(Failure::misuse, fmt::format("unknown command {}", word), place.hint);
  unknown("command", word, known, fmt::format("{} --help", program.name));
}

// CLI11 judges unknown options last; a misspelt one is better named before what it made missing.
void check_option_names(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_fnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const std::string& word : words) {
    if (word == "--") return;
    if (word.size() < 2 || word[0] != '-') continue;
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    if (end != word.c_str()) continue;  // a negative number, be it with a unit, is a value
    const std::string name = word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string parent = app.get_parent() != nullptr ? app.get_parent()->get_name() + " " : "";
      unknown("option", name, known, parent + app.get_name() + " --help");
    }
  }
}

int run(const Program& program, int argc, char** argv) {
  const std::vector<std::string> command(argv, argv + argc);
  CLI::App app(program.summary, program.name);
  app.set_version_flag("--version", build_description, "version, compiler, instruction set, libraries");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(program.footer);

  std::vector<Action> actions;
  std::vector<std::string> names;
  for (const Verb& verb : program.verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions.push_back(verb.declare(*sub, command));
    names.emplace_back(verb.name);
  }

  if (argc < 2) {
    remark(app.help());
    return wrong_use;
  }
  if (command[1] == "help") {  // of a command where one is named
    const bool of_verb = argc > 2 && std::find(names.begin(), names.end(), command[2]) != names.end();
    print_result(of_verb ? app.get_subcommand(command[2])->help(program.name) : app.help());
    return done;
  }
  const auto verb = std::find(names.begin(), names.end(), command[1]);
  if (verb != names.end()) check_option_names(*app.get_subcommand(*verb), {command.begin() + 2, command.end()});
  else if (command[1][0] != '-') unknown_verb(program, command[1], names);
  else check_option_names(app, {command.begin() + 1, command.end()});

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_result(app.help());
    return done;
  } catch (const CLI::CallForVersion& request) {
    std::string text = request.what();
    if (text.empty() || text.back() != '\n') text += '\n';
    print_result(text);
    return done;
  } catch (const CLI::ParseError& error) {
    const std::string verb_words = verb != names.end() ? *verb + " " : "";
    throw Error(Failure::misuse, error.what(), fmt::format("see {} {}--help", program.name, verb_words));
  }
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (app.got_subcommand(names[i])) return actions[i]();
  return wrong_use;
}

}  // namespace

int tell_failure(const Error& error) {
  if (error.kind() == Failure::interrupted && error.hint().empty()) complain("interrupted; nothing was written");
  else complain(error.what(), error.hint());
  return exit_status(error.kind());
}

int run_program(const Program& program, int argc, char** argv) {
  guard_standard_streams();
  name_program(program.name);
  if (std::find(argv, argv + argc, std::string_view("--json-progress")) != argv + argc) speak_json();
  catch_interrupts();
  const auto ended = [](int status, const char* text) {
    if (speaks_json()) print_end("failed", status, text);
    return status;
  };
  try {
    return run(program, argc, argv);
  } catch (const Error& error) {
    return ended(tell_failure(error), error.what());
  } catch (const ClosedPipe&) {
    return ended(failure, "nobody reads the result");
  } catch (const std::bad_alloc&) {
    complain("not enough memory", "use fewer points, or a machine with more memory");
    return ended(failure, "not enough memory");
  } catch (const std::exception& error) {
    complain(fmt::format("unexpected failure: {}", error.what()));
    return ended(failure, error.what());
  }
}

}  // namespace fd::cli
