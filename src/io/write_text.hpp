// Text as a file, whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace fd {

void write_text_file(std::string_view text, const std::string& path);

}  // namespace fd
