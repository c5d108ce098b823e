// flashdiffusion reproduce: runs experiments of the paper and says what came out: as text, as one JSON document, as pages.
#include "reproduce/verb.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/machine.hpp"
#include "common/progress_display.hpp"
#include "common/validators.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/publisher.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {

Options Setup::options() const {
  Options options;
  options.threads = threads;
  options.observer = observer;
  return options;
}

void Setup::begin(const std::string& what) const {
  cli::throw_if_interrupted();
  stage(what);
}

namespace {

using cli::done;
using cli::numbers;

constexpr const char* footer =
    R"(Each experiment prints what was measured beside the paper's figures, says which cells agree, and why others do not. A difference is no
failure: the exit status is 1 only where a number of ours is not what it should be.

Examples:
  flashdiffusion reproduce t6 --quick
  flashdiffusion reproduce t6 --n 1024,2048,4096 --seeds 8 --out pages
  flashdiffusion reproduce alanine --positions P.npz --dihedrals A.npz --quick --out pages
  flashdiffusion reproduce all --quick --out pages)";

struct Arguments {
  std::string experiment;
  Setup setup;
  std::size_t threads = 0;
  std::string folder;
  bool json = false, quiet = false;
};

// Progress of fits under the name of the experiment's stage. Remarks about single fits are left out: there may be hundreds of them.
class StageDisplay final : public Observer {
 public:
  explicit StageDisplay(bool quiet) : display_(quiet) {}
  void progress(const Progress& progress) override {
    Progress shown = progress;
    shown.stage = stage_.empty() ? progress.stage : stage_ + ": " + progress.stage;
    display_.progress(shown);
  }
  bool stop() override { return display_.stop(); }
  void begin(const std::string& stage) {
    stage_ = stage;
    display_.progress({stage});
  }
  void clear() { display_.clear(); }

 private:
  cli::ProgressDisplay display_;
  std::string stage_;
};

// An experiment with what its options became, and which options are its own.
struct Declared {
  const Experiment* experiment;
  Running running;
  std::vector<const CLI::Option*> options;
};

std::vector<Declared> declare_all(CLI::App& app) {
  std::vector<Declared> declared;
  for (const Experiment& experiment : experiments()) {
    const auto before = app.get_options();
    Running running = experiment.declare(app);
    const auto after = app.get_options();
    declared.push_back(
        {&experiment, std::move(running), {after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end()}});
  }
  return declared;
}

// An option that means nothing to the experiment is a mistake, not a wish to be passed over.
void refuse_foreign_options(const CLI::App& app, const std::vector<Declared>& declared, const Experiment& chosen) {
  for (const char* name : {"--n", "--seeds", "--python"}) {
    const bool taken = std::find(chosen.takes.begin(), chosen.takes.end(), name) != chosen.takes.end();
    if (app.count(name) > 0 && !taken)
      throw Error(Failure::misuse, fmt::format("{} has no meaning for {}", name, chosen.name), "leave it out");
  }
  for (const Declared& other : declared)
    for (const CLI::Option* option : other.options)
      if (other.experiment != &chosen && option->count() > 0)
        throw Error(Failure::misuse,
                    fmt::format("{} is an option of {}, not of {}", option->get_name(), other.experiment->name, chosen.name),
                    "leave it out, or name that experiment");
}

// Of all experiments one that lacks something is left out, but not where its options say that it is wanted.
void refuse_idle_options(const Declared& one, const std::string& lacks) {
  for (const CLI::Option* option : one.options)
    if (option->count() > 0)
      throw Error(Failure::misuse, fmt::format("{} is given, but {} cannot run", option->get_name(), one.experiment->name),
                  lacks);
}

// Ascending, each once: a law over N has nothing to say of one size twice.
std::vector<std::size_t> checked_sizes(std::vector<std::size_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto twice = std::adjacent_find(sizes.begin(), sizes.end());
  if (twice != sizes.end())
    throw Error(Failure::misuse, fmt::format("--n has {} twice", *twice), "give each number once; --seeds repeats a size");
  return sizes;
}

// As it would be typed again: in quotes where the shell would take a word apart.
std::string command_text(const std::vector<std::string>& command) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string text = cli::program_name();
  for (std::size_t i = 1; i < command.size(); ++i) {
    std::string word;
    for (const char c : command[i]) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += word.empty() || word.find_first_not_of(plain) != std::string::npos ? " '" + word + "'" : " " + word;
  }
  return text;
}

// The command that runs one of `all` by itself, with those of the options that mean something to it.
std::vector<std::string> command_alone(const CLI::App& app, const Declared& one) {
  std::vector<std::string> command = {"", "reproduce", one.experiment->name};
  for (const CLI::Option* option : app.get_options()) {
    const std::string& name = option->get_name();
    const auto& takes = one.experiment->takes;
    const bool meant = name == "--quick" || name == "--threads" || name == "--out" ||
                       std::find(takes.begin(), takes.end(), name) != takes.end() ||
                       std::find(one.options.begin(), one.options.end(), option) != one.options.end();
    if (!meant || option->count() == 0) continue;
    command.push_back(name);
    if (option->get_items_expected_max() == 0) continue;  // a flag
    std::string words;
    for (const std::string& word : option->results()) words += (words.empty() ? "" : ",") + word;
    command.push_back(words);
  }
  return command;
}

LeftOut left_out(const Declared& one, const Setup& setup, const std::string& reason) {
  Result blank;
  one.running.claims(setup, blank);
  for (Comparison& c : blank.comparisons) c = unmeasured(c.claim, c.where, c.paper, "not run");
  return {one.experiment->name, reason, std::move(blank.comparisons)};
}

// Which experiments of those that were asked for run; of all, those that lack something are left out.
std::vector<const Declared*> choose(const CLI::App& app, const Arguments& arguments, const Setup& setup,
                                    const std::vector<Declared>& declared, Publisher& publisher) {
  const bool all = arguments.experiment == "all";
  std::vector<const Declared*> chosen;
  for (const Declared& one : declared) {
    if (!all && arguments.experiment != one.experiment->name) continue;
    if (!all) refuse_foreign_options(app, declared, *one.experiment);
    const std::string lacks = one.running.lacks(setup);
    if (!lacks.empty() && !all) throw Error(Failure::misuse, fmt::format("{} cannot run", arguments.experiment), lacks);
    if (lacks.empty()) {
      chosen.push_back(&one);
      continue;
    }
    refuse_idle_options(one, lacks);
    publisher.leave_out(left_out(one, setup, lacks));
  }
  return chosen;
}

// The exit status, and with --quiet too what is wrong: a status alone does not say it.
int judge(const std::vector<Result>& results) {
  int status = done;
  for (const Result& result : results) {
    if (result.converged()) continue;
    status = numbers;
    const std::size_t more = result.faults.size() - 1;
    cli::complain(fmt::format("{}: {}", result.name, result.faults.front()),
                  more > 0 ? fmt::format("and {} more like it", more) : "");
  }
  return status;
}

int run(const CLI::App& app, const Arguments& arguments, const std::vector<Declared>& declared,
        const std::vector<std::string>& command) {
  const bool all = arguments.experiment == "all";
  StageDisplay display(arguments.quiet);
  Setup setup = arguments.setup;
  setup.sizes = checked_sizes(setup.sizes);
  setup.threads = cli::checked_threads(arguments.threads);
  setup.observer = &display;
  setup.stage = [&](const std::string& stage) { display.begin(stage); };

  const Folder folder(arguments.folder);
  Publisher publisher(folder, arguments.json ? Form::json : arguments.quiet ? Form::nothing : Form::text);
  const std::vector<const Declared*> chosen = choose(app, arguments, setup, declared, publisher);
  for (const Declared* one : chosen) one->running.check(setup);  // what the last would refuse is not found out after hours
  folder.make();
  for (const Declared* one : chosen) folder.try_page(one->experiment->name);
  if (all) folder.try_page("index");
  // Of all, one that fails is left out, and after an interrupt those that did not end are.
  std::exception_ptr failed;
  bool interrupted = false;
  for (const Declared* one : chosen) {
    const auto leave_out = [&](const std::string& reason) {
      publisher.leave_out(left_out(*one, setup, reason));
      if (!failed) failed = std::current_exception();
    };
    if (interrupted) {
      leave_out("an interrupt came before it");
      continue;
    }
    std::optional<Result> result;
    try {
      result = one->running.run(setup);
    } catch (const Error& error) {
      interrupted = error.kind() == Failure::interrupted;
      leave_out(interrupted ? "an interrupt ended it" : fmt::format("it failed: {}", error.what()));
    } catch (const std::exception& error) {
      leave_out(fmt::format("it failed: {}", error.what()));
    }
    display.clear();
    if (result) publisher.add(std::move(*result), command_text(all ? command_alone(app, *one) : command));
  }
  display.clear();
  if (publisher.results().empty()) std::rethrow_exception(failed);
  publisher.end(all ? command_text(command) : std::string(), cli::machine_json(setup.options()));
  const int status = judge(publisher.results());
  if (interrupted)
    throw Error(Failure::interrupted,
                fmt::format("interrupted after {} of {}", publisher.results().size(), counted(chosen.size(), "experiment")),
                "what had ended by then is whole");
  if (failed) std::rethrow_exception(failed);
  return status;
}

}  // namespace
}  // namespace fd::reproduce

namespace fd::cli {

Action declare_reproduce(CLI::App& app, const std::vector<std::string>& command) {
  using namespace reproduce;
  auto arguments = std::make_shared<Arguments>();
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) names.emplace_back(experiment.name);
  names.emplace_back("all");
  app.add_option("experiment", arguments->experiment, "which experiment of the paper, or all of them")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember(names));
  app.add_flag("--quick", arguments->setup.quick, "a small form of it: seconds instead of minutes");
  app.add_option("--n", arguments->setup.sizes, "numbers of points, separated by commas; the experiment's own, if not given")
      ->delimiter(',')
      ->check(positive_whole_number)
      ->type_name("N");
  app.add_option("--seeds", arguments->setup.seeds, "repetitions, each with points of its own; as in the paper, if not given")
      ->check(positive_whole_number)
      ->type_name("COUNT");
  app.add_option("--threads", arguments->threads, "threads; 0: all cores")->check(whole_number)->type_name("T");
  app.add_option("--python", arguments->setup.python, "which Python runs peers; the first that has them, if not given")
      ->type_name("PROGRAM");
  app.add_option("--out", arguments->folder, "folder for HTML pages, one an experiment; with all also index.html")
      ->type_name("FOLDER");
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no progress, no table");
  auto declared = std::make_shared<std::vector<Declared>>(declare_all(app));
  std::string list = "Experiments:\n";
  for (const Experiment& experiment : experiments()) list += fmt::format("  {:<12}{}\n", experiment.name, experiment.summary);
  app.footer(list + fmt::format("  {:<12}{}\n\n", "all", "all of them, and an index") + footer);
  return [arguments, declared, &app, &command] { return run(app, *arguments, *declared, command); };
}

}  // namespace fd::cli
