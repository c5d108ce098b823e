#include "io/write_npy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "io/bytes.hpp"
#include "io/disk_space.hpp"

namespace fd {
namespace {

class Output {
 public:
  Output(const std::string& temporary, const std::string& path) : path_(path) {
    descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw system_error("write", path_, errno);
  }
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const void* data, std::size_t count) {
    const char* from = static_cast<const char*>(data);
    while (count > 0) {
      const ssize_t put = ::write(descriptor_, from, std::min(count, std::size_t{1} << 30));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw system_error("write", path_, errno);
      from += put;
      count -= static_cast<std::size_t>(put);
    }
  }
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) throw system_error("write", path_, errno);  // a network share reports late
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

void write_binary(const Table& table, Output& output) {
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string header = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}, {}), }}", order,
                                   table.wide() ? 8 : 4, table.rows(), table.columns());
  const std::size_t prefix = 10;  // magic, version, length; the numbers start at a multiple of 64
  header.append(64 - (prefix + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  output.write(start.data(), start.size());
  table.visit([&](const auto& values) { output.write(values.data(), values.size() * sizeof(values[0])); });
}

void write_text(const Table& table, Output& output, char separator) {
  std::string text;
  table.visit([&](const auto& values) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (std::size_t column = 0; column < table.columns(); ++column) {
        if (column > 0) text += separator;
        fmt::format_to(std::back_inserter(text), "{}",
                       values[row * table.columns() + column]);  // shortest that reads back the same
      }
      text += '\n';
      if (text.size() < std::size_t{1} << 20) continue;
      output.write(text.data(), text.size());
      text.clear();
    }
  });
  output.write(text.data(), text.size());
}

// What separates numbers in a text file of this name; zero where the name is not one of a text file.
char text_separator(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix == ".csv" ? ',' : suffix == ".tsv" ? '\t' : suffix == ".txt" ? ' ' : '\0';
}

}  // namespace

void write_table(const Table& table, const std::string& path) {
  AtomicFile file(path);
  Output output(file.temporary(), path);
  const char separator = text_separator(path);
  if (separator != '\0') {
    write_text(table, output, separator);
  } else {
    reserve_space(file.temporary(), path, table.rows() * table.columns() * (table.wide() ? 8 : 4) + 256);
    write_binary(table, output);
  }
  output.close();
  file.commit();
}

}  // namespace fd
