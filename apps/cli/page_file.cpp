#include "cli/page_file.hpp"

#include "common/flag_names.hpp"
#include "io/write_text.hpp"

namespace fd::cli {

std::size_t write_page(Model model, const ReportOptions& options, const std::string& path) {
  model.outcome = with_flags(model.outcome);
  const std::string page = report_page(model, options);
  write_text_file(page, path);
  return page.size();
}

}  // namespace fd::cli
