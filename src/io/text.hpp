// Points in a text table: .csv, .tsv, .txt or standard input, plain or gzip'ed. Separator (semicolon, tab, comma, blanks), decimal commas,
// header row and row names are recognised (text_layout.hpp) and noted; "#" starts a comment; CRLF, quotes and a UTF-8 byte order mark are
// fine. Else numbers only, the same number in every row: anything else is an Error(input) that names line and column. Missing values
// are refused by place, or become NaN for the caller to drop. Infinity is a number here. Memory: 8 bytes a value, and the names.
#pragma once

#include <memory>
#include <string>

#include <flashdiffusion/read_points.hpp>

namespace fd {

std::unique_ptr<PointSource> open_text(const std::string& path, const ReadOptions& options);  // "-": standard input

}  // namespace fd
