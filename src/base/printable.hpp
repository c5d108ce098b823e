// Text that came from elsewhere (cells and names in a file, a path, an argument), made fit to be shown and stored. Guarantees valid
// UTF-8 without control characters. Knows nothing of files or terminals.
#pragma once

#include <string>
#include <string_view>

namespace fd {

// As a message may show it: bytes that are no UTF-8, control characters and marks that reorder text become \xNN, so that a hostile file
// cannot speak to the terminal. Line ends stay only where `lines` says so.
std::string printable(std::string_view text, bool lines = false);

// As a file may store it: unchanged where it is UTF-8, else read as Latin-1, which older spreadsheets write.
std::string as_utf8(std::string_view text);
bool valid_utf8(std::string_view text);

}  // namespace fd
