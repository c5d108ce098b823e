// The program: finds the verb, lets it read its options, and turns whatever happens into an exit status and at most a few lines.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/version.hpp>

#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/help_formatter.hpp"
#include "cli/interrupt.hpp"
#include "cli/suggestion.hpp"
#include "cli/verb.hpp"

namespace fd::cli {
namespace {

constexpr Verb verbs[] = {
    {"fit", "points in, diffusion map out: writes a model file", declare_fit},
    {"transform", "diffusion coordinates of new points", declare_transform},
    {"info", "what is in a model or a file of points", declare_info},
    {"estimate", "time, memory and passes of a fit, before running it", declare_estimate},
    {"demo", "a complete fit on data it makes itself", declare_demo},
    {"selftest", "checks this build on this machine against the reference", declare_selftest},
    {"bench", "figures as ratios to this machine's own limits", declare_bench},
    {"completions", "prints a completion script for bash, zsh or fish", declare_completions},
};

constexpr const char* footer = R"(Examples:
  flashdiffusion demo
  flashdiffusion estimate points.npy -k 8
  flashdiffusion fit points.npy -k 8 -o model.h5
  flashdiffusion info model.h5
  flashdiffusion transform model.h5 new.csv -o coordinates.npy

FLASHDIFFUSION_THREADS sets the number of threads, FLASHDIFFUSION_ISA the instruction set.
Exit status: 0 done, 1 not converged, 2 wrong use or bad input, 3 I/O, memory or device failure, 130 interrupted.)";

[[noreturn]] void unknown(const std::string& kind, const std::string& word, const std::vector<std::string>& known,
                          const std::string& help) {
  const std::string near = closest(word, known);
  throw Error(Failure::misuse, fmt::format("unknown {} {}", kind, word),
              near.empty() ? fmt::format("see {}", help) : fmt::format("did you mean {}? See {}", near, help));
}

// CLI11 judges unknown options last; a misspelt one is better named before what it made missing.
void check_option_names(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; }))
    if (app.get_parent() != nullptr)
      for (const CLI::Option* option : part->get_options()) options.push_back(option);
  for (const CLI::Option* option : options) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_fnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const std::string& word : words) {
    if (word == "--") return;
    if (word.size() < 2 || word[0] != '-') continue;
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    if (*end == '\0') continue;  // a negative number is a value
    const std::string name = word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (std::find(known.begin(), known.end(), name) == known.end())
      unknown("option", name, known, (app.get_parent() != nullptr ? "flashdiffusion " : "") + app.get_name() + " --help");
  }
}

int run(int argc, char** argv) {
  const std::vector<std::string> command(argv, argv + argc);
  CLI::App app("Exact dense diffusion maps without the N x N kernel.", "flashdiffusion");
  app.set_version_flag("--version", build_description, "version, compiler, instruction set, libraries");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(footer);

  std::vector<Action> actions;
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions.push_back(verb.declare(*sub, command));
    names.emplace_back(verb.name);
  }

  if (argc < 2) {
    remark(app.help());
    return wrong_use;
  }
  const auto verb = std::find(names.begin(), names.end(), command[1]);
  if (verb != names.end()) check_option_names(*app.get_subcommand(*verb), {command.begin() + 2, command.end()});
  else if (command[1][0] != '-') unknown("command", command[1], names, "flashdiffusion --help");
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
    const std::string help = verb != names.end() ? "flashdiffusion " + *verb + " --help" : "flashdiffusion --help";
    throw Error(Failure::misuse, error.what(), "see " + help);
  }
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (app.got_subcommand(names[i])) return actions[i]();
  return wrong_use;
}

int run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    if (error.kind() == Failure::interrupted) complain("interrupted; nothing was written");
    else complain(error.what(), error.hint());
    return exit_status(error.kind());
  } catch (const std::bad_alloc&) {
    complain("not enough memory", "use fewer points or modes, --no-points, or a machine with more memory");
  } catch (const std::exception& error) {
    complain(fmt::format("unexpected failure: {}", error.what()));
  }
  return failure;
}

}  // namespace
}  // namespace fd::cli

int main(int argc, char** argv) {
  fd::cli::guard_standard_streams();
  fd::cli::catch_interrupts();
  return fd::cli::run_guarded(argc, argv);
}
