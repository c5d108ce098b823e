#include "io/open_points.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "io/bytes.hpp"
#include "io/column_names.hpp"
#include "io/drop_missing.hpp"
#include "io/hdf5_points.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/text.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

using Source = std::unique_ptr<PointSource>;

struct Format {
  std::string_view name;
  std::array<std::string_view, 6> suffixes;
  std::string_view magic;  // first bytes, where the suffix says nothing; empty: none
  bool has_parts;          // "file:part" is understood
  Source (*open)(const std::string& path, const std::string& part, const ReadOptions& options);
};

const std::array<Format, 4> formats = {{
    {"NumPy array",
     {".npy"},
     "\x93NUMPY",
     false,
     [](const std::string& path, const std::string&, const ReadOptions& options) {
       return open_npy(std::make_unique<FileBytes>(path), options);
     }},
    {"NumPy archive",
     {".npz"},
     "PK\x03\x04",
     true,
     [](const std::string& path, const std::string& part, const ReadOptions& options) { return open_npz(path, part, options); }},
    {"HDF5",
     {".h5", ".hdf5", ".h5ad"},
     "\x89HDF\r\n\x1a\n",
     true,
     [](const std::string& path, const std::string& part, const ReadOptions& options) {
       return open_hdf5_points(path, part, options);
     }},
    {"text",
     {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"},
     "\x1f\x8b",  // gzip
     false,
     [](const std::string& path, const std::string&, const ReadOptions& options) { return open_text(path, options); }},
}};

bool ends_in(std::string_view path, std::string_view suffix) {
  return !suffix.empty() && path.size() >= suffix.size() &&
         std::equal(suffix.begin(), suffix.end(), path.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

// Formats that no small library reads: what turns them into one that is read here.
void refuse_foreign(const std::string& path) {
  if (ends_in(path, ".parquet") || ends_in(path, ".feather"))
    throw Error(Failure::input, fmt::format("{}: Parquet and Feather files are not read here", path),
                fmt::format("save it as text, in Python: pandas.read_{}(\"{}\").to_csv(\"points.csv\", index=False)",
                            ends_in(path, ".parquet") ? "parquet" : "feather", path));
  for (const std::string_view suffix : {".xlsx", ".xlsm", ".xls", ".ods"})
    if (ends_in(path, suffix))
      throw Error(Failure::input, fmt::format("{}: spreadsheets are not read here", path),
                  "save the sheet with the points as CSV");
  if (ends_in(path, ".zip") || ends_in(path, ".tar.gz") || ends_in(path, ".tgz"))
    throw Error(Failure::input, fmt::format("{}: archives are not read here", path), "unpack it, and name the file of points");
}

const Format* by_suffix(std::string_view path) {
  for (const Format& format : formats)
    for (const std::string_view suffix : format.suffixes)
      if (ends_in(path, suffix)) return &format;
  return nullptr;
}

const Format& by_magic(const std::string& path) {
  const FileBytes file(path);
  char bytes[4096] = {};
  const std::size_t there = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof bytes));
  file.read(0, there, bytes);
  const std::string_view start(bytes, there);
  for (const Format& format : formats)
    if (!format.magic.empty() && start.substr(0, format.magic.size()) == format.magic) return format;
  const auto in_text = [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t'; };
  if (!start.empty() && std::all_of(start.begin(), start.end(), in_text)) return formats.back();
  std::string known;
  for (const Format& format : formats)
    for (const std::string_view suffix : format.suffixes)
      if (!suffix.empty()) known += (known.empty() ? "" : " ") + std::string(suffix);
  throw Error(Failure::input, fmt::format("{}: neither its suffix nor its first bytes tell what it is", path),
              fmt::format("known suffixes: {}; or '-' for text on standard input", known));
}

bool exists(const std::string& path, struct stat* status) { return ::stat(path.c_str(), status) == 0; }

// "file" or "file:part". A file that has a colon in its own name wins; else the first colon behind an existing file, or behind a
// suffix that knows parts, cuts.
struct Argument {
  std::string path, part;
  bool streamed = false;  // a pipe or terminal: can be read once, from start to end

  explicit Argument(const std::string& text) : path(text) {
    if (text == "-") {
      streamed = true;
      return;
    }
    if (text.empty()) throw Error(Failure::misuse, "an empty file name", "name a file of points, or '-' for standard input");
    struct stat status = {};
    bool missing = !exists(text, &status);
    std::string likely;
    for (std::size_t colon = text.find(':', 1); missing && colon != std::string::npos; colon = text.find(':', colon + 1)) {
      const std::string front = text.substr(0, colon);
      if (exists(front, &status)) {
        path = front;
        part = text.substr(colon + 1);
        missing = false;
      } else if (const Format* format = by_suffix(front); likely.empty() && format != nullptr && format->has_parts) {
        likely = front;
      }
    }
    if (missing && !likely.empty()) path = likely;
    if (missing && !exists(path, &status)) throw system_error("read", path, errno);
    if (S_ISDIR(status.st_mode)) throw system_error("read", path, EISDIR);
    streamed = !S_ISREG(status.st_mode);
  }
};

Source open_file(const Argument& argument, const std::string& text, const ReadOptions& options) {
  if (argument.streamed) return open_text(argument.path, options);
  refuse_foreign(argument.path);
  const Format* suffixed = by_suffix(argument.path);
  const Format& format = suffixed != nullptr ? *suffixed : by_magic(argument.path);
  if (!argument.part.empty() && !format.has_parts)
    throw Error(Failure::misuse, fmt::format("{}: '{}' names a part, but a {} file has none", text, argument.part, format.name),
                fmt::format("use {}", argument.path));
  return format.open(argument.path, argument.part, options);
}

Source open_one(const std::string& text, const ReadOptions& options) {
  const Argument argument(text);
  Source source;
  try {
    source = open_file(argument, text, options);
  } catch (const std::bad_alloc&) {
    throw Error(Failure::memory, fmt::format("not enough memory to read {}", argument.path),
                ".npy and HDF5 files are read piece by piece");
  } catch (const std::length_error&) {
    throw Error(Failure::memory, fmt::format("{} claims more numbers than any memory holds", argument.path), "write it again");
  }
  if (source->rows() == 0 || source->dimension() == 0)
    throw Error(Failure::input,
                fmt::format("{} holds no points: its shape is ({}, {})", text, source->rows(), source->dimension()),
                "write an array of shape (points, dimension)");
  std::uint64_t bytes = sizeof(double);
  if (__builtin_mul_overflow(bytes, source->rows(), &bytes) || __builtin_mul_overflow(bytes, source->dimension(), &bytes))
    throw Error(Failure::input,
                fmt::format("{} claims {}, more than any memory holds", text, counted_shape(source->rows(), source->dimension())),
                "the file is damaged: write it again");
  return source;
}

class StackedSource final : public PointSource {
 public:
  StackedSource(std::vector<Source> parts, const std::vector<std::string>& names, const ReadOptions& options)
      : parts_(std::move(parts)) {
    ColumnNames columns;
    columns.compare(options.columns, options.columns_of);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i]->dimension() != parts_[0]->dimension())
        throw Error(Failure::input,
                    fmt::format("{} has {}, {} has {}", names[0], counted(parts_[0]->dimension(), "column"), names[i],
                                parts_[i]->dimension()),
                    "files that are stacked need the same number of columns");
      add_columns(parts_[i]->column_names());
      columns.compare(parts_[i]->column_names(), names[i] == "-" ? "standard input" : names[i]);
      starts_.push_back(rows_);
      rows_ += parts_[i]->rows();
    }
    column_notes_ = columns.notes();
  }
  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return parts_[0]->dimension(); }
  bool exact_in_float() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const Source& part) { return part->exact_in_float(); });
  }
  // Of the files that have any, where none has others.
  std::vector<std::string> column_names() const override { return columns_agree_ ? columns_ : std::vector<std::string>(); }
  // Only where every file has names.
  std::vector<std::string> row_names() const override {
    std::vector<std::string> all;
    all.reserve(rows_);
    for (const Source& part : parts_) {
      std::vector<std::string> names = part->row_names();
      if (names.empty()) return {};
      std::move(names.begin(), names.end(), std::back_inserter(all));
    }
    return all;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all = column_notes_;
    std::size_t named = 0;
    for (const Source& part : parts_) {
      for (std::string& note : part->notes()) all.push_back(std::move(note));
      named += part->row_names().empty() ? 0 : 1;
    }
    if (named > 0 && named < parts_.size()) all.emplace_back("row names are left out: not all of the stacked files have them");
    return all;
  }
  void read(std::size_t first, std::size_t count, double* out) override {
    std::size_t part = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), first) - starts_.begin()) - 1;
    for (; count > 0; ++part) {
      const std::size_t inside = first - starts_[part], now = std::min(count, parts_[part]->rows() - inside);
      parts_[part]->read(inside, now, out);
      out += now * dimension();
      first += now;
      count -= now;
    }
  }

 private:
  void add_columns(std::vector<std::string> columns) {
    if (columns_.empty()) columns_ = std::move(columns);
    else columns_agree_ &= columns.empty() || columns == columns_;
  }

  std::vector<Source> parts_;
  std::vector<std::string> columns_, column_notes_;
  bool columns_agree_ = true;
  std::vector<std::size_t> starts_;
  std::size_t rows_ = 0;
};

// A header of numbers is known by the names that columns have elsewhere. The first file that names them may stand below such ones: those are
// read once more, if they can be.
std::vector<Source> open_all(const std::vector<std::string>& arguments, ReadOptions options) {
  std::vector<Source> parts;
  parts.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    parts.push_back(open_one(argument, options));
    if (!options.columns.empty()) continue;
    options.columns = parts.back()->column_names();
    const auto number = [](const std::string& name) { return NumberReader(true)(name).has_value(); };
    if (std::none_of(options.columns.begin(), options.columns.end(), number)) continue;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      if (!Argument(arguments[i]).streamed) {
        parts[i].reset();
        parts[i] = open_one(arguments[i], options);
      }
  }
  return parts;
}

}  // namespace

std::unique_ptr<PointSource> open_points(const std::vector<std::string>& arguments, const ReadOptions& options,
                                         const std::function<void(const PointSource&)>& look) {
  if (arguments.empty()) throw Error(Failure::misuse, "no points given", "name a file, or '-' for text on standard input");
  if (std::count(arguments.begin(), arguments.end(), "-") > 1)
    throw Error(Failure::misuse, "'-' is given twice, but standard input can be read once", "name it once");
  std::vector<Source> parts = open_all(arguments, options);
  Source source = parts.size() == 1 && options.columns.empty()
                      ? std::move(parts[0])
                      : std::make_unique<StackedSource>(std::move(parts), arguments, options);
  look(*source);
  return options.missing == Missing::drop_rows ? without_missing(std::move(source)) : std::move(source);
}

std::unique_ptr<PointSource> open_points(const std::vector<std::string>& arguments, const ReadOptions& options) {
  return open_points(arguments, options, [](const PointSource&) {});
}

std::vector<InputFile> describe_inputs(const std::vector<std::string>& arguments) {
  std::vector<InputFile> described;
  for (const std::string& text : arguments) {
    const Argument argument(text);
    if (argument.streamed) {
      described.push_back({argument.path, 0, ""});
      continue;
    }
    const FileBytes file(argument.path);
    std::vector<unsigned char> piece(std::size_t{1} << 20);
    uLong sum = crc32(0, nullptr, 0);
    for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
      const std::size_t now = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size() - at));
      file.read(at, now, piece.data());
      sum = crc32(sum, piece.data(), static_cast<uInt>(now));
    }
    described.push_back({argument.path, file.size(), fmt::format("{:08x}", sum)});
  }
  return described;
}

}  // namespace fd
