// The library speaks of options as fields of fd::Options in backticks, `max_passes` or `components = 3`; on a command line they are
// flags, --max-passes and --components 3.
#pragma once

#include <string>

namespace fd::cli {

// The text with flags for fields. What stands in backticks and is no field is left alone.
std::string with_flags(const std::string& text);

}  // namespace fd::cli
