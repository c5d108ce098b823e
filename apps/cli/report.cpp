// flashdiffusion report: a model in, one page out.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/report.hpp>

#include "base/counted.hpp"
#include "cli/page_file.hpp"
#include "cli/placing.hpp"
#include "cli/summary.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "common/validators.hpp"
#include "io/atomic_file.hpp"
#include "io/labels.hpp"

namespace fd::cli {
namespace {

struct ReportArguments {
  std::string model, output;
  std::vector<std::string> colours;
  ReportOptions report;
  PlacingFlags placing;
  bool json = false, quiet = false;
};

constexpr const char* report_footer =
    R"(The page is one HTML file that needs no network and no other file. LABELS: text with a line a row (header recognised; a column that holds the
names of all rows places the lines; what leaves a doubt is refused, and you settle it by --in-order or --by-name), or
numbers as .npy or .h5.

Examples:
  flashdiffusion report model.h5 -o report.html
  flashdiffusion report model.h5 --color clusters.csv -o report.html
  flashdiffusion fit points.npy -o model.h5 --report report.html)";

int run_report(const ReportArguments& arguments) {
  if (arguments.output.empty()) throw Error(Failure::misuse, "report needs a name for the page it makes", "add -o report.html");
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.json)
    throw Error(Failure::misuse, "-o - and --json both ask for standard output", "write the page to a file");
  if (!to_stdout) {
    AtomicFile check(arguments.output);
    refuse_overwriting(arguments.output, {arguments.model});
    refuse_overwriting(arguments.output, arguments.colours);
  }
  std::size_t rows = 0;
  std::vector<std::string> notes;
  const Page page = [&] {
    LeaveAtOnce blocking;
    const Model model = load_model(arguments.model);
    ReportOptions options = arguments.report;
    for (const std::string& file : arguments.colours)
      for (Labels& labels : read_labels(file, labelled_rows(model, arguments.placing), &notes))
        options.labels.push_back(std::move(labels));
    rows = model.n;
    return make_page(model, options);
  }();
  write_page(page, arguments.output);
  if (!arguments.quiet)
    for (const std::string& note : notes) remark("note: " + note);
  if (arguments.json) {
    const nlohmann::ordered_json document = {{"model", arguments.model},
                                             {"output", arguments.output},
                                             {"bytes", page.html.size()},
                                             {"rows", rows},
                                             {"rows_shown", page.rows_shown}};
    print_result(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", arguments.output);
  } else if (!arguments.quiet && !to_stdout) {
    print_result(
        row_text("written",
                 fmt::format("{}  ({}{})", arguments.output, bytes_text(static_cast<double>(page.html.size())),
                             page.rows_shown < rows ? fmt::format(", a sample of {}", counted(page.rows_shown, "row")) : "")),
        arguments.output);
  }
  return done;
}

}  // namespace

Action declare_report(CLI::App& app, const std::vector<std::string>&) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("model", arguments->model, "the model file")->type_name("MODEL")->required();
  app.add_option("-o,--output", arguments->output, "the page to write; - for standard output")->type_name("FILE");
  app.add_option("--color,--colour", arguments->colours, "labels to colour the map by, a column each")->type_name("LABELS");
  declare_placing(app, "LABELS", arguments->placing);
  app.add_option("--title", arguments->report.title, "heading of the page; the name of the points, if not given")
      ->type_name("TEXT");
  app.add_option("--rows", arguments->report.rows, "at most so many dots: a random sample of more")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", arguments->json, "one JSON document on standard output");
  app.add_flag("--quiet", arguments->quiet, "no notes, and not what was written");
  app.footer(report_footer);
  return [arguments] { return run_report(*arguments); };
}

}  // namespace fd::cli
