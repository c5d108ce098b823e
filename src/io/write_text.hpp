// Text as files, whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fd {

struct TextFile {
  std::string path, text;
};

void write_text_file(std::string_view text, const std::string& path);

// All of them are on the disk before the first gets its name: one that cannot be written leaves none.
void write_text_files(const std::vector<TextFile>& files);

}  // namespace fd
