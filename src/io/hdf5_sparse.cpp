#include "io/hdf5_sparse.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/hdf5_dataset.hpp"

namespace fd {
namespace {

constexpr std::size_t piece_entries = std::size_t{1} << 18;

Error damaged(const std::string& label, const std::string& what) {
  return Error(Failure::input, fmt::format("{}: a damaged sparse matrix: {}", label, what), "write the file again");
}

// data, indices and indptr: entries start[i] … start[i + 1] belong to line i, a row or a column.
class Entries {
 public:
  Entries(hid_t file, const std::string& group, std::uint64_t lines, std::uint64_t across, std::string label)
      : label_(std::move(label)), across_(across) {
    data_ = Hdf5(H5Dopen2(file, (group + "/data").c_str(), H5P_DEFAULT), H5Dclose);
    indices_ = Hdf5(H5Dopen2(file, (group + "/indices").c_str(), H5P_DEFAULT), H5Dclose);
    if (!data_ || !indices_) throw damaged(label_, "data or indices are missing");
    require_own_values(data_, label_);
    require_own_values(indices_, label_);
    const auto entries = shape_of(data_);
    const Hdf5 type(H5Dget_type(data_), H5Tclose), index_type(H5Dget_type(indices_), H5Tclose);
    if (entries.size() != 1 || shape_of(indices_) != entries) throw damaged(label_, "data and indices differ in length");
    if (!type || !is_number(number_class(type)) || !index_type || H5Tget_class(index_type) != H5T_INTEGER)
      throw damaged(label_, "data are not numbers, or indices not whole ones");
    const H5T_class_t found = number_class(type);
    exact_ = found == H5T_FLOAT ? H5Tget_size(type) <= 4 : H5Tget_size(type) <= 2;
    start_ = read_indices(file, group + "/indptr", lines + 1, label_);
    if (start_.front() != 0 || static_cast<std::uint64_t>(start_.back()) != entries[0] ||
        !std::is_sorted(start_.begin(), start_.end()))
      throw damaged(label_, "indptr does not cut data into lines");
  }

  std::size_t lines() const { return start_.size() - 1; }
  std::uint64_t start(std::size_t line) const { return static_cast<std::uint64_t>(start_[line]); }
  std::uint64_t count() const { return start(lines()); }
  bool exact_in_float() const { return exact_; }

  // f(entry, index, value) for the entries [first, end), a bounded number of them in memory.
  template <class F>
  void each(std::uint64_t first, std::uint64_t end, F&& f) {
    for (; first < end; first += std::min<std::uint64_t>(piece_entries, end - first)) {
      const hsize_t now = std::min<std::uint64_t>(piece_entries, end - first);
      index_.resize(now);
      value_.resize(now);
      read(indices_, H5T_NATIVE_INT64, first, now, index_.data());  // signed: HDF5 would turn what is below zero into zero
      read(data_, H5T_NATIVE_DOUBLE, first, now, value_.data());
      for (std::size_t i = 0; i < now; ++i) {
        if (index_[i] < 0 || static_cast<std::uint64_t>(index_[i]) >= across_)
          throw damaged(label_, fmt::format("an index of {}, but its extent is {}", index_[i], across_));
        f(first + i, static_cast<std::size_t>(index_[i]), value_[i]);
      }
    }
  }

 private:
  void read(hid_t dataset, hid_t type, hsize_t first, hsize_t count, void* out) const {
    const Hdf5Silence silence;
    const Hdf5 from(H5Dget_space(dataset), H5Sclose), to(H5Screate_simple(1, &count, nullptr), H5Sclose);
    if (!from || !to || H5Sselect_hyperslab(from, H5S_SELECT_SET, &first, nullptr, &count, nullptr) < 0 ||
        H5Dread(dataset, type, to, from, H5P_DEFAULT, out) < 0)
      throw Error(Failure::io, fmt::format("{}: entries {} to {} cannot be read", label_, first, first + count - 1),
                  "the file is damaged, or was written with a compression that this HDF5 does not have (h5repack can change it)");
  }

  std::string label_;
  std::uint64_t across_;
  Hdf5 data_, indices_;
  std::vector<std::int64_t> start_, index_;
  std::vector<double> value_;
  bool exact_ = false;
};

class SparseRows final : public PointSource {
 public:
  SparseRows(Entries entries, std::size_t dimension) : entries_(std::move(entries)), dimension_(dimension) {}
  std::size_t rows() const override { return entries_.lines(); }
  std::size_t dimension() const override { return dimension_; }
  bool exact_in_float() const override { return entries_.exact_in_float(); }
  void read(std::size_t first, std::size_t count, double* out) override {
    std::fill_n(out, count * dimension_, 0.0);
    std::size_t row = first;
    entries_.each(entries_.start(first), entries_.start(first + count),
                  [&](std::uint64_t entry, std::size_t column, double value) {
                    while (entry >= entries_.start(row + 1)) ++row;
                    out[(row - first) * dimension_ + column] += value;
                  });
  }

 private:
  Entries entries_;
  std::size_t dimension_;
};

// A matrix stored by columns, turned into rows.
class SparseColumns final : public PointSource {
 public:
  SparseColumns(Entries entries, std::size_t rows, const std::string& label)
      : dimension_(entries.lines()), exact_(entries.exact_in_float()), start_(rows + 1, 0) {
    const std::uint64_t count = entries.count();
    note_ = fmt::format("{}: stored by columns, so it is turned into rows in memory ({:.1f} MB)", label,
                        (16.0 * static_cast<double>(count) + 8.0 * static_cast<double>(rows)) / 1e6);
    entries.each(0, count, [&](std::uint64_t, std::size_t row, double) { ++start_[row + 1]; });
    for (std::size_t i = 0; i < rows; ++i) start_[i + 1] += start_[i];
    column_.resize(count);
    value_.resize(count);
    std::vector<std::uint64_t> next(start_.begin(), start_.end() - 1);
    std::size_t column = 0;
    entries.each(0, count, [&](std::uint64_t entry, std::size_t row, double value) {
      while (entry >= entries.start(column + 1)) ++column;
      column_[next[row]] = column;
      value_[next[row]++] = value;
    });
  }
  std::size_t rows() const override { return start_.size() - 1; }
  std::size_t dimension() const override { return dimension_; }
  bool exact_in_float() const override { return exact_; }
  std::vector<std::string> notes() const override { return {note_}; }
  void read(std::size_t first, std::size_t count, double* out) override {
    std::fill_n(out, count * dimension_, 0.0);
    for (std::size_t i = 0; i < count; ++i)
      for (std::uint64_t at = start_[first + i]; at < start_[first + i + 1]; ++at)
        out[i * dimension_ + column_[at]] += value_[at];
  }

 private:
  std::size_t dimension_;
  bool exact_;
  std::string note_;
  std::vector<std::uint64_t> start_, column_;
  std::vector<double> value_;
};

// (rows, columns): an attribute of the group, under a name that has changed once.
std::vector<std::uint64_t> shape_attribute(hid_t file, const std::string& group) {
  for (const char* name : {"shape", "h5sparse_shape"}) {
    const Hdf5 found(H5Aopen_by_name(file, group.c_str(), name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Hdf5 space(found ? H5Aget_space(found) : -1, H5Sclose);
    std::int64_t shape[2] = {};
    if (space && H5Sget_simple_extent_npoints(space) == 2 && H5Aread(found, H5T_NATIVE_INT64, shape) >= 0 && shape[0] >= 0 &&
        shape[1] >= 0)
      return {static_cast<std::uint64_t>(shape[0]), static_cast<std::uint64_t>(shape[1])};
  }
  return {};
}

}  // namespace

bool is_sparse(hid_t file, const std::string& group) {
  const Hdf5 object(H5Oopen(file, group.c_str(), H5P_DEFAULT), H5Oclose);
  return object && H5Iget_type(object) == H5I_GROUP && H5Lexists(object, "indptr", H5P_DEFAULT) > 0;
}

std::unique_ptr<PointSource> open_sparse(hid_t file, const std::string& group, const std::string& label) {
  const auto shape = shape_attribute(file, group);
  if (shape.empty()) throw damaged(label, "it has no shape of rows and columns");
  std::string format = text_attribute(file, group, "encoding-type");
  if (format.empty()) format = text_attribute(file, group, "h5sparse_format");
  if (format.rfind("csr", 0) == 0) return std::make_unique<SparseRows>(Entries(file, group, shape[0], shape[1], label), shape[1]);
  if (format.rfind("csc", 0) != 0) throw damaged(label, fmt::format("'{}' is neither csr_matrix nor csc_matrix", format));
  Entries entries(file, group, shape[1], shape[0], label);
  // The number of rows is a claim that nothing stored bears out: rows without an entry are few, or it is not believed.
  if (shape[0] / 2 > entries.count() + (std::uint64_t{1} << 23)) throw damaged(label, "more rows than its entries can fill");
  return std::make_unique<SparseColumns>(std::move(entries), shape[0], label);
}

}  // namespace fd
