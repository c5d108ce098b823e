#include "ptx/source.hpp"

#include <cctype>
#include <unordered_map>

namespace softgpu {

namespace {
bool blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
}  // namespace

std::string trimmed(const std::string& s) {
  const auto a = s.find_first_not_of(" \t\r\n"), b = s.find_last_not_of(" \t\r\n");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

std::vector<std::string> split(const std::string& s, char by) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : s) {
    depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    if (c == by && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(trimmed(part));
  return parts;
}

std::vector<std::string> words(const std::string& s) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < s.size();) {
    while (i < s.size() && blank(s[i])) ++i;
    std::size_t e = i;
    while (e < s.size() && !blank(s[e])) ++e;
    if (e > i) found.push_back(s.substr(i, e - i));
    i = e;
  }
  return found;
}

int width_of(const std::string& type) {
  static const std::unordered_map<std::string, int> table = {{"pred", 0}, {"b8", 1},  {"u8", 1},  {"s8", 1},    {"b16", 2},
                                                             {"u16", 2},  {"s16", 2}, {"f16", 2}, {"bf16", 2},  {"b32", 4},
                                                             {"u32", 4},  {"s32", 4}, {"f32", 4}, {"f16x2", 4}, {"tf32", 4},
                                                             {"b64", 8},  {"u64", 8}, {"s64", 8}, {"f64", 8},   {"bf16x2", 4}};
  const auto it = table.find(type);
  return it == table.end() ? -1 : it->second;
}

Source::Source(std::string text) : text_(std::move(text)) {
  std::string line;
  for (const char c : text_) {
    if (c == '\n') {
      lines_.push_back(line);
      line.clear();
    } else {
      line += c;
    }
  }
  lines_.push_back(line);
  bool quoted = false;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '"') quoted = !quoted;
    if (quoted || text_[i] != '/' || i + 1 >= text_.size()) continue;
    const bool long_form = text_[i + 1] == '*';
    if (!long_form && text_[i + 1] != '/') continue;
    std::size_t end = long_form ? text_.find("*/", i + 2) : text_.find('\n', i);
    end = end == std::string::npos ? text_.size() : long_form ? end + 2 : end;
    for (std::size_t k = i; k < end; ++k)
      if (text_[k] != '\n') text_[k] = ' ';
    i = end - 1;
  }
}

void Source::fail_at(u32 line, const std::string& what) const { throw Refused("PTX line " + std::to_string(line) + ": " + what); }

void Source::fail(const std::string& what) const {
  u32 line = 1;
  for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
  fail_at(line, what);
}

u32 Source::line() {
  for (; counted_ < at_; ++counted_) line_ += text_[counted_] == '\n';
  return line_;
}

bool Source::more() {
  while (at_ < text_.size() && blank(text_[at_])) ++at_;
  return at_ < text_.size();
}

std::string Source::peek_word() const {
  std::size_t e = at_;
  while (e < text_.size() && !blank(text_[e]) && std::string("(){};,=").find(text_[e]) == std::string::npos) ++e;
  return text_.substr(at_, e - at_);
}

std::string Source::take_word() {
  std::string w = peek_word();
  at_ += w.size();
  more();
  return w;
}

std::string Source::to_newline() {
  const auto e = std::min(text_.find('\n', at_), text_.size());
  std::string s = text_.substr(at_, e - at_);
  at_ = e;
  return s;
}

std::string Source::until(char c) {
  const auto e = text_.find(c, at_);
  if (e == std::string::npos) fail(std::string("the text ends, and no '") + c + "' was found");
  std::string s = text_.substr(at_, e - at_);
  at_ = e + 1;
  return s;
}

void Source::skip_braces() {
  until('{');
  for (int depth = 1; depth > 0; ++at_) {
    if (at_ >= text_.size()) fail("a closing brace is missing");
    depth += (text_[at_] == '{') - (text_[at_] == '}');
  }
}

std::string Source::label() {
  std::size_t e = at_;
  while (e < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[e])) || text_[e] == '_' || text_[e] == '$')) ++e;
  std::size_t colon = e;
  while (colon < text_.size() && blank(text_[colon])) ++colon;
  if (e == at_ || colon >= text_.size() || text_[colon] != ':' || text_.compare(colon, 2, "::") == 0) return "";
  std::string name = text_.substr(at_, e - at_);
  at_ = colon + 1;
  return name;
}

}  // namespace softgpu
