// The fixed parts of pages, embedded when the program is built (cmake/embed_page.cmake). Their hashes are what a page's content-security
// policy lets run.
#pragma once

#include <string_view>

namespace fd::page {

// What all pages share.
extern const std::string_view frame;                     // HTML with places such as {{title}} to be filled
extern const std::string_view style;                     // CSS
extern const std::string_view library;                   // D3
extern const std::string_view style_hash, library_hash;  // "sha256-…"

// What is a page's own: its body, HTML with places of its own, and its script.
struct Content {
  std::string_view body, script, script_hash;
};

extern const Content report_content;

}  // namespace fd::page
