#include "base/printable.hpp"

#include <cstddef>

namespace fd {
namespace {

struct Symbol {
  std::size_t bytes = 0;  // 0: no UTF-8 here
  char32_t point = 0;
};

// The symbol that starts `text`, which is not empty. Overlong forms, surrogates and what lies past U+10FFFF are no UTF-8.
Symbol first_symbol(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t point = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least[bytes] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return {};
  return {bytes, point};
}

bool shown(char32_t point) {
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
  const bool reorders = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e ||
                        point == 0x200f || point == 0x2028 || point == 0x2029;
  return !reorders;
}

}  // namespace

std::string printable(std::string_view text, bool lines) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Symbol symbol = first_symbol(text);
    const std::size_t bytes = symbol.bytes == 0 ? 1 : symbol.bytes;
    if (symbol.bytes != 0 && (shown(symbol.point) || (lines && symbol.point == '\n'))) {
      out += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, bytes)) {
        const auto byte = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Symbol symbol = first_symbol(text);
    if (symbol.bytes == 0) return false;
    text.remove_prefix(symbol.bytes);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {  // Latin-1 is the first 256 points of Unicode
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

}  // namespace fd
