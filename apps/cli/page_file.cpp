#include "cli/page_file.hpp"

#include "common/console.hpp"
#include "common/flag_names.hpp"
#include "io/write_text.hpp"

namespace fd::cli {

Page make_page(Model model, const ReportOptions& options) {
  model.outcome = with_flags(model.outcome);
  Page page;
  page.html = report_page(model, options, &page.rows_shown);
  return page;
}

void write_page(const Page& page, const std::string& path) {
  if (path == "-") print_result(page.html);
  else write_text_file(page.html, path);
}

}  // namespace fd::cli
