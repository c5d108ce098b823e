// Points in a text table: .csv, .tsv, .txt or standard input. Separator (semicolon, tab, comma, blanks) and header row are
// recognised; "#" starts a comment; CRLF, quotes and a UTF-8 byte order mark are fine. Numbers only, the same number in every
// row: anything else is an Error(input) that names line and column. "nan" and "inf" are numbers here; whether they are wanted
// is not decided in this file. Memory: 8 bytes a value.
#pragma once

#include <memory>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

std::unique_ptr<PointSource> open_text(const std::string& path);  // "-": standard input

}  // namespace fd
