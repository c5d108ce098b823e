// PTX text as statements with line numbers. Comments are blanked first, so that nobody else sees them.
//
// Guarantees: positions keep their lines. Does not know what a statement means.
#pragma once
#include <string>
#include <vector>

#include "ptx/program.hpp"

namespace softgpu {

std::string trimmed(const std::string& s);
std::vector<std::string> split(const std::string& s, char by);  // outside of brackets; parts are trimmed
std::vector<std::string> words(const std::string& s);

// Bytes of a fundamental type: b8 ... f64, f16x2; 0 for pred, -1 for anything else.
int width_of(const std::string& type);

class Source {
 public:
  explicit Source(std::string text);

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(u32 line, const std::string& what) const;
  bool more();  // skips blanks
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void take() { ++at_; }
  std::string peek_word() const;
  std::string take_word();
  std::string to_newline();
  std::string until(char c);
  void skip_braces();
  std::string label();  // "name" when the text goes on with `name:`, which is taken; else empty
  u32 line();
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::string text_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0, counted_ = 0;
  u32 line_ = 1;
};

}  // namespace softgpu
