// The report page of a model as a file, whole or not at all, in the words of the command line: flags instead of fields.
#pragma once

#include <cstddef>
#include <string>

#include <flashdiffusion/report.hpp>

namespace fd::cli {

struct Page {
  std::string html;
  std::size_t rows_shown = 0;
};

Page make_page(Model model, const ReportOptions& options);

void write_page(const Page& page, const std::string& path);  // - is standard output

}  // namespace fd::cli
