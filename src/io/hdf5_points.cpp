#include "io/hdf5_points.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "io/bytes.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_sparse.hpp"
#include "io/isolated_points.hpp"
#include "io/npy_header.hpp"
#include "io/whole_number.hpp"

namespace fd {
namespace {

struct Candidate {
  std::string path;
  std::vector<std::uint64_t> shape;
  bool numeric = false;
};

Candidate describe(hid_t file, const std::string& path) {
  const Hdf5 dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) return {path, {}, false};
  const Hdf5 type(H5Dget_type(dataset), H5Tclose);
  return {path, shape_of(dataset), type && is_number(number_class(type))};
}

std::vector<Candidate> tables_of(hid_t file, std::size_t rank = 2) {
  std::vector<std::string> paths;
  const auto visit = [](hid_t, const char* name, const H5L_info_t* link, void* to) -> herr_t {
    if (link->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(to)->push_back(std::string("/") + name);
    return 0;
  };
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &paths);
  std::vector<Candidate> tables;
  for (const std::string& path : paths)
    if (Candidate found = describe(file, path); found.numeric && found.shape.size() == rank) tables.push_back(std::move(found));
  return tables;
}

std::string listing(const std::vector<Candidate>& tables) {
  constexpr std::size_t most = 20;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most, tables.size()); ++i)
    lines.push_back(fmt::format("{} {}", tables[i].path, shape_text(tables[i].shape)));
  if (tables.size() > most) lines.push_back(fmt::format("and {} more", tables.size() - most));
  return fmt::format("{}", fmt::join(lines, ", "));
}

H5O_type_t kind_of(hid_t file, const std::string& path) {
  const Hdf5 object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object) return H5O_TYPE_UNKNOWN;
  const H5I_type_t type = H5Iget_type(object);
  return type == H5I_DATASET ? H5O_TYPE_DATASET : type == H5I_GROUP ? H5O_TYPE_GROUP : H5O_TYPE_NAMED_DATATYPE;
}

bool ends_in(const std::string& path, std::string_view suffix) {
  return path.size() > suffix.size() && path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

struct Choice {
  std::string path, note;
};

// Where the user named nothing.
Choice choose(hid_t file, const std::string& path, bool vectors) {
  const bool annotated = ends_in(path, ".h5ad");
  if (annotated && kind_of(file, "/obsm/X_pca") == H5O_TYPE_DATASET)
    return {"/obsm/X_pca", fmt::format("{}: its table /obsm/X_pca was taken; {}:/X is the one it was made from", path, path)};
  if (annotated && (kind_of(file, "/X") == H5O_TYPE_DATASET || is_sparse(file, "/X")))
    return {"/X", fmt::format("{}: its table /X was taken; a PCA of it (/obsm/X_pca) is not there", path)};
  std::vector<Candidate> tables = tables_of(file);
  if (tables.empty() && vectors) tables = tables_of(file, 1);
  if (tables.size() == 1) return {tables[0].path, fmt::format("{}: its only table, {}, was taken", path, tables[0].path)};
  if (tables.empty())
    throw Error(Failure::input, fmt::format("{} holds no two-dimensional dataset of numbers", path),
                "name a dataset, or write one of shape (points, dimension)");
  throw Error(Failure::input, fmt::format("{} holds several tables: {}", path, listing(tables)),
              fmt::format("name one of them: {}:{}", path, tables[0].path));
}

// A column of /obs as names: text, whole numbers, or, as AnnData writes categories, numbers (`codes`) of texts (`categories`), below zero for
// none. Empty where it is nothing of these.
std::vector<std::string> read_names(hid_t file, const std::string& path, std::uint64_t count, const std::string& label) {
  std::vector<std::string> names;
  if (kind_of(file, path) == H5O_TYPE_DATASET) {
    const Hdf5 dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5 type(dataset ? H5Dget_type(dataset) : -1, H5Tclose);
    const H5T_class_t found = type ? H5Tget_class(type) : H5T_NO_CLASS;
    if (found == H5T_STRING) return read_texts(file, path, count, label);
    if (found == H5T_INTEGER)
      for (const std::int64_t value : read_indices(file, path, count, label)) names.push_back(std::to_string(value));
    return names;
  }
  const std::string categories = path + "/categories";
  if (kind_of(file, path + "/codes") != H5O_TYPE_DATASET || kind_of(file, categories) != H5O_TYPE_DATASET) return names;
  const auto shape = describe(file, categories).shape;
  if (shape.size() != 1) return names;
  const std::vector<std::string> texts = read_names(file, categories, shape[0], label);
  if (texts.empty()) return names;
  for (const std::int64_t code : read_indices(file, path + "/codes", count, label)) {
    if (code >= static_cast<std::int64_t>(texts.size()))
      throw Error(Failure::input,
                  fmt::format("{}: {}/codes holds {}, but there are {} categories", label, path, code, texts.size()),
                  "the file is damaged: write it again");
    names.push_back(code < 0 ? std::string() : texts[static_cast<std::size_t>(code)]);
  }
  return names;
}

bool below(const std::string& folder, const std::string& path) { return path.compare(0, folder.size(), folder) == 0; }

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// What AnnData calls the lines of a frame (/obs, /var); empty where it does not, with a note where they are called something else than words.
std::vector<std::string> index_of(hid_t file, const std::string& frame, std::uint64_t count, const std::string& label,
                                  const char* called, std::vector<std::string>& notes) {
  if (kind_of(file, frame) != H5O_TYPE_GROUP) return {};
  const std::string index = text_attribute(file, frame, "_index"), path = frame + "/" + index;
  if (index.empty() || H5Lexists(file, path.c_str(), H5P_DEFAULT) <= 0) return {};
  std::vector<std::string> names = read_names(file, path, count, label);
  if (names.empty())
    notes.push_back(fmt::format("{}: {} are not named: {} is neither text nor whole numbers", label, called, path));
  else notes.push_back(fmt::format("{}: {} are named as in {}", label, called, frame));
  for (std::string& name : names) name = as_utf8(name);
  return names;
}

// `names` beside a table, one too few or too many: neither its rows nor its columns, and not the rows of another array beside it.
void refuse_other_names(hid_t file, const std::string& table, const PointSource& source, const Candidate& names,
                        const std::string& label) {
  const std::uint64_t count = names.shape[0];
  if (count == source.rows() || count == source.dimension()) return;
  for (const std::size_t rank : {1, 2})
    for (const Candidate& other : tables_of(file, rank))
      if (other.path != names.path && folder_of(other.path) == folder_of(names.path) && other.shape[0] == count) return;
  throw Error(
      Failure::input,
      fmt::format("{}: {} has {} and {} {}", label, table, counted(source.rows(), "row"), names.path, counted(count, "name")),
      "names beside a table are those of its rows: write both again, or leave the names out");
}

// What the rows of `table` are called: in `names` beside it, or at the root; or as AnnData calls the observations of a file, where it has a
// row for each. Else empty.
std::vector<std::string> names_of_rows(hid_t file, const std::string& table, const PointSource& source, const std::string& label,
                                       std::vector<std::string>& notes) {
  const std::string beside = folder_of(table) + "names";
  if (const Candidate found = describe(file, beside); found.shape.size() == 1 && beside != table)
    refuse_other_names(file, table, source, found, label);
  std::vector<std::string> names;
  for (const std::string& path : {beside, std::string("/names")}) {
    if (!names.empty() || path == table || describe(file, path).shape != std::vector<std::uint64_t>{source.rows()}) continue;
    names = read_names(file, path, source.rows(), label);
    for (std::string& name : names) name = as_utf8(name);
    if (!names.empty()) notes.push_back(fmt::format("{}: rows are named as in {}", label, path));
  }
  const bool annotated =
      table == "/X" || table == "/raw/X" || below("/obsm/", table) || below("/layers/", table) || below("/obs/", table);
  return names.empty() && annotated ? index_of(file, "/obs", source.rows(), label, "rows", notes) : names;
}

// As AnnData calls the variables; coordinates made of them (/obsm) have no names.
std::vector<std::string> names_of_columns(hid_t file, const std::string& table, std::uint64_t columns, const std::string& label,
                                          std::vector<std::string>& notes) {
  if (table != "/X" && table != "/raw/X" && !below("/layers/", table)) return {};
  if (describe(file, table).shape.size() == 1) return {};
  return index_of(file, table == "/raw/X" ? "/raw/var" : "/var", columns, label, "columns", notes);
}

class DenseTable final : public PointSource {
 public:
  DenseTable(hid_t file, const std::string& path, const std::string& label, const ReadOptions& options)
      : name_(label), roundings_(options.roundings) {
    open(file, path, options.vectors);
  }

  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return dimension_; }
  bool exact_in_float() const override { return exact_; }

  void read(std::size_t first, std::size_t count, double* out) override {
    if (count == 0 || dimension_ == 0) return;
    const Hdf5Silence silence;
    const hsize_t start[2] = {first, 0}, extent[2] = {count, dimension_};
    const Hdf5 from(H5Dget_space(dataset_), H5Sclose), to(H5Screate_simple(rank_, extent, nullptr), H5Sclose);
    if (!from || !to || H5Sselect_hyperslab(from, H5S_SELECT_SET, start, nullptr, extent, nullptr) < 0 ||
        !(roundings_ ? read_roundings(to, from, {out, count * dimension_})
                     : H5Dread(dataset_, H5T_NATIVE_DOUBLE, to, from, H5P_DEFAULT, out) >= 0))
      throw Error(Failure::io, fmt::format("{}: rows {} to {} cannot be read", name_, first, first + count - 1),
                  "the file is damaged, or was written with a compression that this HDF5 does not have (h5repack can change it)");
  }

 private:
  bool read_roundings(hid_t to, hid_t from, std::span<double> out) const {
    const Hdf5 type(H5Dget_type(dataset_), H5Tclose);
    const auto read_as = [&](auto whole, hid_t memory) {
      std::vector<decltype(whole)> values(out.size());
      if (H5Dread(dataset_, memory, to, from, H5P_DEFAULT, values.data()) < 0) return false;
      std::transform(values.begin(), values.end(), out.begin(), [](auto value) { return rounding_of(value); });
      return true;
    };
    if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8)
      return H5Tget_sign(type) == H5T_SGN_NONE ? read_as(std::uint64_t{}, H5T_NATIVE_UINT64)
                                               : read_as(std::int64_t{}, H5T_NATIVE_INT64);
    std::fill(out.begin(), out.end(), 0.0);
    return true;
  }

  void open(hid_t file, const std::string& path, bool vectors) {
    dataset_ = Hdf5(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5 type(dataset_ ? H5Dget_type(dataset_) : -1, H5Tclose);
    if (!type)
      throw Error(Failure::input, fmt::format("{} cannot be opened", name_), "the file is damaged: copy or write it again");
    require_own_values(dataset_, name_);
    const H5T_class_t found = number_class(type);
    if (!is_number(found))
      throw Error(Failure::input, fmt::format("{} does not hold real numbers", name_), "write it as floating-point numbers");
    const auto shape = shape_of(dataset_);
    if (shape.size() != 2 && !(vectors && shape.size() == 1)) throw not_a_table(name_, shape);
    rank_ = static_cast<int>(shape.size());
    rows_ = shape[0];
    dimension_ = rank_ == 2 ? shape[1] : 1;
    const std::size_t size = H5Tget_size(type);
    exact_ = found == H5T_FLOAT ? size <= 4 : size <= 2;
    widen_cache(file, path, size);
  }

  // Rows are read in order, so one row of chunks must stay unpacked between two reads; HDF5's default cache of 1 MiB may not
  // hold it, and each chunk would then be unpacked many times.
  void widen_cache(hid_t file, const std::string& path, std::size_t size) {
    const Hdf5 creation(H5Dget_create_plist(dataset_), H5Pclose);
    hsize_t chunk[2] = {};
    if (!creation || H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_chunk(creation, 2, chunk) != 2 || chunk[1] == 0) return;
    const hsize_t across = (dimension_ + chunk[1] - 1) / chunk[1];
    const double needed =
        2.0 * static_cast<double>(chunk[0]) * static_cast<double>(chunk[1] * across) * static_cast<double>(size);
    constexpr double most = 256.0 * 1024 * 1024;
    if (needed <= 1024 * 1024 || needed > most) return;
    const Hdf5 access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access, 10007, static_cast<std::size_t>(needed), 1.0);
    dataset_.close();  // HDF5 keeps the cache of a dataset that is open already
    dataset_ = Hdf5(H5Dopen2(file, path.c_str(), access), H5Dclose);
    if (!dataset_)
      throw Error(Failure::input, fmt::format("{} cannot be opened", name_), "the file is damaged: copy or write it again");
  }

  std::string name_;
  Hdf5 dataset_;
  int rank_ = 2;
  std::size_t rows_ = 0, dimension_ = 0;
  bool exact_ = false, roundings_;
};

// The table that was asked for or chosen, dense or sparse, with its names.
class Hdf5Source final : public PointSource {
 public:
  Hdf5Source(const std::string& path, const std::string& wanted, const ReadOptions& options) {
    if (FileBytes(path).size() == 0) throw Error(Failure::input, fmt::format("{} is empty (0 bytes)", path), "write it again");
    file_ = open_hdf5(path);
    if (!file_)
      throw Error(Failure::input, fmt::format("{} is not an HDF5 file, or was cut short", path),
                  "copy or write it again, or correct its suffix");
    const Choice choice =
        wanted.empty() ? choose(file_, path, options.vectors) : Choice{wanted[0] == '/' ? wanted : "/" + wanted, ""};
    if (!choice.note.empty()) notes_.push_back(choice.note);
    table_ = open(path, choice.path, options);
    for (std::string& note : table_->notes()) notes_.push_back(std::move(note));
    names_ = names_of_rows(file_, choice.path, *table_, path, notes_);
    columns_ = names_of_columns(file_, choice.path, table_->dimension(), path, notes_);
  }

  std::size_t rows() const override { return table_->rows(); }
  std::size_t dimension() const override { return table_->dimension(); }
  bool exact_in_float() const override { return table_->exact_in_float(); }
  std::vector<std::string> row_names() const override { return names_; }
  std::vector<std::string> column_names() const override { return columns_; }
  std::vector<std::string> notes() const override { return notes_; }
  void read(std::size_t first, std::size_t count, double* out) override { table_->read(first, count, out); }

 private:
  std::unique_ptr<PointSource> open(const std::string& path, const std::string& chosen, const ReadOptions& options) const {
    const H5O_type_t kind = kind_of(file_, chosen);
    if (kind == H5O_TYPE_DATASET) return std::make_unique<DenseTable>(file_, chosen, path + ":" + chosen, options);
    if (is_sparse(file_, chosen) && options.roundings)
      throw Error(Failure::input, fmt::format("{}:{} is a sparse matrix, and holds numbers beyond 2^53", path, chosen),
                  "write it as an array");
    if (is_sparse(file_, chosen)) return open_sparse(file_, chosen, path + ":" + chosen);
    const auto tables = tables_of(file_);
    const std::string list = tables.empty() ? "none" : listing(tables);
    if (kind == H5O_TYPE_UNKNOWN)
      throw Error(Failure::input, fmt::format("{} holds no dataset {}; its tables: {}", path, chosen, list),
                  "check the spelling");
    throw Error(Failure::input, fmt::format("{}: {} is a group, not a table", path, chosen),
                fmt::format("the file's tables: {}", list));
  }

  Hdf5 file_;
  std::unique_ptr<PointSource> table_;
  std::vector<std::string> names_, columns_, notes_;
};

}  // namespace

std::unique_ptr<PointSource> open_hdf5_points(const std::string& path, const std::string& dataset, const ReadOptions& options) {
  return isolated_points(path, [&]() -> std::unique_ptr<PointSource> {
    const Hdf5Silence silence;
    return std::make_unique<Hdf5Source>(path, dataset, options);
  });
}

}  // namespace fd
