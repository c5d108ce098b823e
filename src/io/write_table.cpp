#include "io/write_table.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "io/disk_space.hpp"
#include "io/hdf5_writer.hpp"
#include "io/output_file.hpp"

namespace fd {
namespace {

void write_binary(const Table& table, OutputFile& output) {
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

using Sink = std::function<void(std::string_view)>;

// In quotes where a reader would otherwise cut it, strip it or take it for a comment.
std::string quoted(const std::string& name, char separator) {
  const bool plain = !name.empty() && name.find_first_of("\"#\r\n,;\t") == std::string::npos &&
                     name.find(separator) == std::string::npos && name.front() != ' ' && name.back() != ' ';
  if (plain) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// `headings`: nothing, where there is no header.
void write_text(const Table& table, const std::vector<std::string>& names, const TableHeadings* headings, char separator,
                const Sink& sink) {
  std::string text;
  if (headings != nullptr) {
    if (!names.empty()) text += std::string("name") + separator;
    for (std::size_t column = 0; column < table.columns(); ++column) {
      if (column > 0) text += separator;
      text += column < headings->columns.size() ? quoted(headings->columns[column], separator) : fmt::format("dc{}", column + 1);
    }
    text += '\n';
  }
  table.visit([&](const auto& values) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (!names.empty()) text += quoted(names[row], separator) + separator;
      for (std::size_t column = 0; column < table.columns(); ++column) {
        if (column > 0) text += separator;
        fmt::format_to(std::back_inserter(text), "{}",
                       values[row * table.columns() + column]);  // shortest that reads back the same
      }
      text += '\n';
      if (text.size() < std::size_t{1} << 20) continue;
      sink(text);
      text.clear();
    }
  });
  sink(text);
}

void write_hdf5(const Table& table, const std::vector<std::string>& names, const std::string& dataset,
                const std::string& temporary, const std::string& path) {
  Hdf5Writer out(temporary, path, table.rows() * table.columns() * (table.wide() ? 8 : 4));
  table.visit([&](const auto& values) { out.array("/" + dataset, {table.rows(), table.columns()}, values.data()); });
  if (!names.empty()) out.text("/names", names);
  out.close();
}

std::string suffix_of(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

bool is_hdf5_suffix(const std::string& suffix) { return suffix == ".h5" || suffix == ".hdf5"; }

}  // namespace

void check_table_name(const std::string& path) {
  const std::string suffix = suffix_of(path);
  for (const char* known : {".npy", ".csv", ".tsv", ".txt", ".h5", ".hdf5"})
    if (suffix == known) return;
  throw Error(Failure::misuse,
              suffix.empty() ? fmt::format("{}: a name without a suffix does not say which format is wanted", path)
                             : fmt::format("{}: tables are not written as {}", path, suffix),
              "name a file that ends in .csv, .tsv, .txt, .npy or .h5");
}

void write_table(const Table& table, const std::string& path, const std::vector<std::string>& names,
                 const TableHeadings& headings) {
  check_table_name(path);
  if (!names.empty() && names.size() != table.rows())
    throw Error(Failure::misuse, fmt::format("{} names for {} rows", names.size(), table.rows()));
  const std::string suffix = suffix_of(path);
  AtomicFile file(path);
  if (is_hdf5_suffix(suffix)) {
    write_hdf5(table, names, headings.dataset, file.temporary(), path);
    return file.commit();
  }
  OutputFile output(file.temporary(), path);
  const Sink sink = [&](std::string_view text) { output.write(text.data(), text.size()); };
  if (suffix == ".npy") {
    reserve_space(file.temporary(), path, table.rows() * table.columns() * (table.wide() ? 8 : 4) + 256);
    write_binary(table, output);
  } else if (suffix == ".txt") {
    write_text(table, {}, nullptr, ' ', sink);
  } else {
    write_text(table, names, &headings, suffix == ".csv" ? ',' : '\t', sink);
  }
  output.close();
  file.commit();
}

void write_csv(const Table& table, const std::vector<std::string>& names, const std::function<void(std::string_view)>& sink,
               const TableHeadings& headings) {
  write_text(table, names, &headings, ',', sink);
}

}  // namespace fd
