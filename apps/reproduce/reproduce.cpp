// flashdiffusion reproduce: runs experiments of the paper and says what came out: as text, as one JSON document, as pages.
#include "reproduce/verb.hpp"

#include <chrono>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/machine.hpp"
#include "common/progress_display.hpp"
#include "common/validators.hpp"
#include "reproduce/document.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/text.hpp"

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

int run(const CLI::App& app, const Arguments& arguments, const std::vector<Declared>& declared) {
  const bool all = arguments.experiment == "all";
  StageDisplay display(arguments.quiet);
  Setup setup = arguments.setup;
  setup.threads = cli::checked_threads(arguments.threads);
  setup.observer = &display;
  setup.stage = [&](const std::string& stage) { display.begin(stage); };

  std::vector<Result> results;
  for (const Declared& one : declared) {
    if (!all && arguments.experiment != one.experiment->name) continue;
    if (!all) refuse_foreign_options(app, declared, *one.experiment);
    results.push_back(one.running.run(setup));
  }
  display.clear();
  cli::throw_if_interrupted();
  if (arguments.json) {
    nlohmann::ordered_json document = document_of(results.front());
    document["machine"] = cli::machine_json(setup.options());
    cli::print_result(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!arguments.quiet) {
    for (const Result& result : results) cli::print_result(result_text(result));
  }
  for (const Result& result : results)
    if (!result.converged) return numbers;
  return done;
}

}  // namespace
}  // namespace fd::reproduce

namespace fd::cli {

Action declare_reproduce(CLI::App& app, const std::vector<std::string>&) {
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
      ->check(whole_number)
      ->type_name("N");
  app.add_option("--seeds", arguments->setup.seeds, "repetitions, each with points of its own; as in the paper, if not given")
      ->check(whole_number)
      ->type_name("COUNT");
  app.add_option("--threads", arguments->threads, "threads; 0: all cores")->check(whole_number)->type_name("T");
  app.add_option("--python", arguments->setup.python, "which Python runs peers; the first that has them, if not given")
      ->type_name("PROGRAM");
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no progress, no table");
  auto declared = std::make_shared<std::vector<Declared>>(declare_all(app));
  app.footer(footer);
  return [arguments, declared, &app] { return run(app, *arguments, *declared); };
}

}  // namespace fd::cli
