// The fixed parts of the page, embedded when the program is built (cmake/embed_page.cmake). Their hashes are what the page's
// content-security policy lets run.
#pragma once

#include <string_view>

namespace fd::page {

extern const std::string_view frame;                                  // HTML with places such as {{title}} to be filled
extern const std::string_view style;                                  // CSS
extern const std::string_view library;                                // D3
extern const std::string_view script;                                 // the page's own
extern const std::string_view style_hash, library_hash, script_hash;  // "sha256-…"

}  // namespace fd::page
