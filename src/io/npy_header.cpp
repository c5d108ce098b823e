#include "io/npy_header.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"

namespace fd {
namespace {

Error damaged_npy(const std::string& file, const std::string& what) {
  return Error(Failure::input, fmt::format("{}: damaged .npy header: {}", file, what), "write the file again with np.save");
}

// Reads the Python dictionary of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descriptor = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descriptor = peek() == '[' || peek() == '(' ? records() : quoted();
        descriptor = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        throw damaged_npy(file_, fmt::format("unknown entry '{}'", key));
      }
      if (!accept(',') && peek() != '}') throw damaged_npy(file_, "no comma between entries");
    }
    if (!descriptor || !order || !shape) throw damaged_npy(file_, "descr, fortran_order or shape is missing");
    return header;
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw damaged_npy(file_, fmt::format("no '{}' at byte {} of the description", c, at_));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw damaged_npy(file_, "a quoted word is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw damaged_npy(file_, "an open quote");
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }
  // A record type: its text up to the bracket that closes it; the caller refuses it by name.
  std::string records() {
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '[' || text_[at_] == '(') ++depth;
      if (text_[at_] == ']' || text_[at_] == ')') --depth;
      if (depth == 0) return "V " + std::string(text_.substr(begin, ++at_ - begin));
    }
    throw damaged_npy(file_, "an open bracket");
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    throw damaged_npy(file_, "fortran_order is neither True nor False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      peek();
      const std::size_t begin = at_;
      std::uint64_t extent = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        if (__builtin_mul_overflow(extent, 10, &extent) || __builtin_add_overflow(extent, text_[at_] - '0', &extent))
          throw damaged_npy(file_, "a length in shape is too large for any file");
      if (at_ == begin) throw damaged_npy(file_, "shape is not a tuple of lengths");
      accept('L');  // written by Python 2
      shape.push_back(extent);
      if (!accept(',') && peek() != ')') throw damaged_npy(file_, "no comma in shape");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(const Bytes& bytes) {
  const std::string& file = bytes.name();
  if (bytes.size() == 0) throw Error(Failure::input, fmt::format("{} is empty (0 bytes)", file), "write it again");
  constexpr std::string_view magic = "\x93NUMPY";
  unsigned char start[12] = {};
  const std::size_t there = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), sizeof start));
  bytes.read(0, there, start);
  if (std::string_view(reinterpret_cast<char*>(start), std::min(there, magic.size())) != magic.substr(0, there))
    throw Error(Failure::input, fmt::format("{} is not a .npy array: it does not start as one", file),
                "write it with np.save, or correct its suffix");
  const int major = start[6];
  const std::size_t prefix = major == 1 ? 10 : 12;
  if (there < 10 || there < prefix) throw damaged_npy(file, fmt::format("the file ends after {}", counted(bytes.size(), "byte")));
  if (major < 1 || major > 3) throw damaged_npy(file, fmt::format("version {}.{} is not known here", major, start[7]));
  std::uint64_t length = start[8] | start[9] << 8;
  if (major > 1) length |= static_cast<std::uint64_t>(start[10]) << 16 | static_cast<std::uint64_t>(start[11]) << 24;
  constexpr std::uint64_t longest = 1 << 24;  // far above any real table; a lying length must not cost memory
  if (length > longest || prefix + length > bytes.size())
    throw damaged_npy(file, fmt::format("it claims {} bytes, the file has {}", prefix + length, bytes.size()));
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes.read(prefix, text.size(), text.data());
  NpyHeader header = Dictionary(text, file).parse();
  header.data_offset = prefix + length;
  return header;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

NotATable not_a_table(const std::string& file, const std::vector<std::uint64_t>& shape) {
  const std::string what =
      fmt::format("{}: an array of shape {}, but points are a table of rows and columns", file, shape_text(shape));
  if (shape.size() == 1)
    return NotATable(Failure::input, what,
                     "if each number is a point, save x.reshape(-1, 1); if all are one point, more points are needed");
  if (shape.empty()) return NotATable(Failure::input, what, "save an array of shape (points, dimension)");
  return NotATable(Failure::input, what, "flatten each point first: x.reshape(len(x), -1), where x[i] is one");
}

}  // namespace fd
