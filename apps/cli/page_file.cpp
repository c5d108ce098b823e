#include "cli/page_file.hpp"

#include "common/console.hpp"
#include "common/flag_names.hpp"
#include "io/write_text.hpp"

namespace fd::cli {

WrittenPage write_page(Model model, const ReportOptions& options, const std::string& path) {
  model.outcome = with_flags(model.outcome);
  WrittenPage written;
  const std::string page = report_page(model, options, &written.rows_shown);
  written.bytes = page.size();
  if (path == "-") print_result(page);
  else write_text_file(page, path);
  return written;
}

}  // namespace fd::cli
