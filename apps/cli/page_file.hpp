// The report page of a model as a file, whole or not at all, in the words of the command line: flags instead of fields.
#pragma once

#include <cstddef>
#include <string>

#include <flashdiffusion/report.hpp>

namespace fd::cli {

struct WrittenPage {
  std::size_t bytes = 0, rows_shown = 0;
};

// - is standard output.
WrittenPage write_page(Model model, const ReportOptions& options, const std::string& path);

}  // namespace fd::cli
