// The report page of a model as a file, whole or not at all, in the words of the command line: flags instead of fields.
#pragma once

#include <cstddef>
#include <string>

#include <flashdiffusion/report.hpp>

namespace fd::cli {

// Returns its size in bytes.
std::size_t write_page(Model model, const ReportOptions& options, const std::string& path);

}  // namespace fd::cli
