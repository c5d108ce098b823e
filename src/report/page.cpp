#include "report/page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <flashdiffusion/version.hpp>

#include "base/printable.hpp"

namespace fd {
namespace {

// Inside a script element only `<` can end it or open a comment, and in JSON it occurs in strings alone.
std::string script_safe(const nlohmann::ordered_json& document) {
  const std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

std::string policy(const page::Content& content) {
  return fmt::format(
      "default-src 'none'; script-src '{}' '{}'; style-src '{}'; img-src data: blob:; base-uri 'none'; form-action 'none'",
      page::library_hash, content.script_hash, page::style_hash);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string filled(std::string_view part, const Places& places) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = part.find("{{", at);
    out += part.substr(at, open - at);
    if (open == std::string_view::npos) return out;
    const std::size_t close = part.find("}}", open);
    const std::string_view name = part.substr(open + 2, close - open - 2);
    out += std::find_if(places.begin(), places.end(), [&](const auto& place) { return place.first == name; })->second;
    at = close + 2;
  }
}

std::string whole_page(const page::Content& content, const std::string& title, const Places& places,
                       const nlohmann::ordered_json& document, const std::string& data) {
  return filled(page::frame, {{"policy", policy(content)},
                              {"title", escaped(title)},
                              {"style", std::string(page::style)},
                              {"body", filled(content.body, places)},
                              {"version", escaped(version)},
                              {"document", script_safe(document)},
                              {"data", data},
                              {"library", std::string(page::library)},
                              {"script", std::string(content.script)}});
}

}  // namespace fd
