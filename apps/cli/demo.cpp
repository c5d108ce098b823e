// flashdiffusion demo: a complete fit on data it makes, a Swiss roll, and what to try next.
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/fit.hpp>

#include "cli/page_file.hpp"
#include "cli/provenance.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/made_points.hpp"
#include "common/progress_display.hpp"
#include "common/validators.hpp"
#include "io/atomic_file.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"

namespace fd::cli {
namespace {

struct DemoArguments {
  std::string folder = ".";
  bool quiet = false;
};

constexpr std::size_t rows = 2000;
constexpr std::size_t modes = 8;

int run_demo(const DemoArguments& arguments, const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  const std::string prefix = arguments.folder == "." ? "" : arguments.folder + "/";
  const std::string points_path = prefix + "demo.npy", model_path = prefix + "demo-model.h5",
                    page_path = prefix + "demo-report.html";
  refuse_one_file({{"points", points_path}, {"model", model_path}, {"page", page_path}});
  { AtomicFile points_check(points_path), model_check(model_path), page_check(page_path); }

  const Table points = swiss_roll(rows, false);
  ProgressDisplay display(arguments.quiet);
  Options options;
  options.modes = modes;
  options.observer = &display;
  if (!arguments.quiet)
    remark(fmt::format("fitting a Swiss roll: {} points, 3 columns, {} modes, the bandwidth chosen by the data", rows, modes));
  Model model = fit(points.view(), options);
  display.clear();
  throw_if_interrupted();
  write_table(points, points_path);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  model.provenance = provenance_text(command, options, describe_inputs({points_path}), {}, {}, wall);
  save_model(model, model_path);
  ReportOptions report;
  report.title = "Diffusion map of a Swiss roll";
  report.labels = {{"angle along the roll", {}, swiss_roll_angles(rows)}};
  write_page(make_page(model, report), page_path);

  if (!arguments.quiet) {
    print_result(fmt::format("A Swiss roll of {} points, and its diffusion map.\n\n", rows) +
                     summary_text(model, "chosen by the flow") + "\n" + row_text("points", points_path) +
                     row_text("model", model_path) +
                     fmt::format("\nNext:\n  flashdiffusion info {1}\n  flashdiffusion transform {1} {0} -o {2}coordinates.npy\n"
                                 "  flashdiffusion fit {0} --beta 10 -k 16 -o {2}finer.h5\n",
                                 points_path, model_path, prefix) +
                     fmt::format("\nOpen {} in a browser to see the map.\n", page_path),
                 fmt::format("{}, {}, {}", points_path, model_path, page_path));
  }
  if (model.converged) return done;
  complain(model.outcome, "the files were written all the same");
  return numbers;
}

}  // namespace

Action declare_demo(CLI::App& app, const std::vector<std::string>& command) {
  auto arguments = std::make_shared<DemoArguments>();
  app.add_option("-o,--output", arguments->folder, "folder for demo.npy, demo-model.h5 and demo-report.html")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--quiet", arguments->quiet, "no progress, no remarks, no table");
  app.footer("Examples:\n  flashdiffusion demo\n  flashdiffusion demo --output /tmp");
  return [arguments, &command] { return run_demo(*arguments, command); };
}

}  // namespace fd::cli
