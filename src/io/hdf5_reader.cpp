#include "io/hdf5_reader.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/error.hpp>

#include "io/bytes.hpp"
#include "io/hdf5_dataset.hpp"

namespace fd {
namespace {

std::size_t count_of(const std::vector<std::uint64_t>& shape) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<std::size_t>::max();
  return count;
}

}  // namespace

Hdf5Reader::Hdf5Reader(const std::string& path) : path_(path) {
  constexpr unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char start[8] = {};
  const FileBytes bytes(path);
  if (bytes.size() == 0) throw Error(Failure::input, fmt::format("{} is empty (0 bytes)", path), "write it again");
  bytes_ = bytes.size();
  bytes.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), sizeof start)), start);
  if (!std::equal(start, start + sizeof start, signature))
    throw Error(Failure::input, fmt::format("{} is not an HDF5 file", path), "name a model file that fit wrote");
  file_ = open_hdf5(path);
  if (!file_) damaged("it cannot be opened");
  refuse_links_to_other_files();
}

// As with virtual datasets: a model is one file, and what another one holds is not what was checked.
void Hdf5Reader::refuse_links_to_other_files() const {
  std::string found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t* link, void* to) -> herr_t {
    if (link->type == H5L_TYPE_HARD || link->type == H5L_TYPE_SOFT) return 0;
    *static_cast<std::string*>(to) = name;
    return 1;  // ends it
  };
  if (H5Lvisit(file_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found) > 0)
    damaged(fmt::format("/{} is a link to another file", found));
}

void Hdf5Reader::damaged(const std::string& where) const {
  throw Error(Failure::input, fmt::format("{} is damaged or was cut short: {}", path_, where),
              "copy it again from where it was whole, or repeat the fit");
}

std::uint64_t Hdf5Reader::bytes_past_end() const {
  haddr_t end = 0;
  if (H5Fget_eoa(file_, &end) < 0 || end > bytes_) damaged("it does not state where it ends");
  return bytes_ - end;
}

bool Hdf5Reader::has(const std::string& path) const { return H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0; }

bool Hdf5Reader::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

double Hdf5Reader::real_attribute(const std::string& object, const std::string& name) const {
  double value = 0;
  const Hdf5 found(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Hdf5 space(found ? H5Aget_space(found) : -1, H5Sclose);
  if (!space || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(found, H5T_NATIVE_DOUBLE, &value) < 0)
    damaged("attribute " + name);
  return value;
}

std::int64_t Hdf5Reader::integer_attribute(const std::string& object, const std::string& name) const {
  std::int64_t value = 0;
  const Hdf5 found(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Hdf5 space(found ? H5Aget_space(found) : -1, H5Sclose);
  if (!space || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(found, H5T_NATIVE_INT64, &value) < 0)
    damaged("attribute " + name);
  return value;
}

std::string Hdf5Reader::text_attribute(const std::string& object, const std::string& name) const {
  const Hdf5 found(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Hdf5 space(found ? H5Aget_space(found) : -1, H5Sclose);
  const Hdf5 type(found ? H5Aget_type(found) : -1, H5Tclose);
  if (!space || !type || H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != H5T_STRING)
    damaged("attribute " + name);
  if (H5Tis_variable_str(type) <= 0) {
    constexpr std::size_t longest = 1 << 16;  // of an attribute that lies in its object's header
    if (H5Tget_size(type) > longest) damaged("attribute " + name);
    std::string value(H5Tget_size(type), '\0');
    if (H5Aread(found, type, value.data()) < 0) damaged("attribute " + name);
    return value.substr(0, value.find('\0'));
  }
  char* characters = nullptr;
  if (H5Aread(found, type, &characters) < 0) damaged("attribute " + name);
  std::string value = characters != nullptr ? characters : "";
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, &characters);
  return value;
}

Hdf5 Hdf5Reader::open(const std::string& path) const {
  Hdf5 dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) damaged(path + " is missing");
  require_own_values(dataset, path);
  return dataset;
}

std::vector<std::uint64_t> Hdf5Reader::shape(const std::string& path) const {
  const Hdf5 dataset = open(path);
  const Hdf5 space(H5Dget_space(dataset), H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space) : -1;
  if (rank < 0) damaged(path);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

void Hdf5Reader::expect_shape(const std::string& path, const std::vector<std::uint64_t>& wanted) const {
  const auto found = shape(path);
  if (found != wanted)
    damaged(fmt::format("{} has the shape ({}), not ({})", path, fmt::join(found, ", "), fmt::join(wanted, ", ")));
}

// Elements of a dataset, once its shape has been held against the bytes that are stored for it.
std::size_t Hdf5Reader::stored_count(const std::string& path, hid_t dataset) const {
  constexpr std::uint64_t most_packed = 1100;  // deflate makes at most 1032 bytes of one
  const std::size_t count = count_of(shape(path));
  const Hdf5 type(H5Dget_type(dataset), H5Tclose), creation(H5Dget_create_plist(dataset), H5Pclose);
  const std::uint64_t size = type ? H5Tget_size(type) : 0, stored = H5Dget_storage_size(dataset);
  if (!creation || size == 0 || stored > bytes_) damaged(path);
  const std::uint64_t room = H5Pget_nfilters(creation) > 0
                                 ? std::min(stored, std::numeric_limits<std::uint64_t>::max() / most_packed) * most_packed
                                 : stored;
  if (count > room / size) damaged(fmt::format("{} claims {} values, but only {} bytes are there", path, count, stored));
  return count;
}

void Hdf5Reader::read(const std::string& path, hid_t dataset, hid_t memory, void* out) const {
  if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) damaged(path + " cannot be read");
}

std::vector<double> Hdf5Reader::reals(const std::string& path) const {
  const Hdf5 dataset = open(path);
  std::vector<double> values(stored_count(path, dataset));
  if (!values.empty()) read(path, dataset, H5T_NATIVE_DOUBLE, values.data());
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& path) const {
  const Hdf5 dataset = open(path);
  std::vector<std::int64_t> values(stored_count(path, dataset));
  if (!values.empty()) read(path, dataset, H5T_NATIVE_INT64, values.data());
  return values;
}

std::vector<std::string> Hdf5Reader::texts(const std::string& path) const {
  const Hdf5 dataset = open(path);
  const Hdf5 type(H5Dget_type(dataset), H5Tclose);
  if (!type || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0)
    damaged(path + " does not hold text of fixed length");
  std::vector<std::string> values(stored_count(path, dataset));
  const std::size_t width = H5Tget_size(type);
  std::string padded(width * values.size(), '\0');
  if (!values.empty()) read(path, dataset, type, padded.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = padded.substr(i * width, width);
    values[i].resize(std::min(values[i].find('\0'), width));
  }
  return values;
}

Table Hdf5Reader::table(const std::string& path) const {
  const auto extents = shape(path);
  if (extents.size() != 2) damaged(path + " is not a table");
  const Hdf5 dataset = open(path);
  stored_count(path, dataset);
  const Hdf5 type(H5Dget_type(dataset), H5Tclose);
  const bool narrow = type && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) <= 4;
  Table table(extents[0], extents[1], !narrow);
  if (!table.empty())
    table.visit(
        [&](auto& values) { read(path, dataset, sizeof(values[0]) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, values.data()); });
  return table;
}

}  // namespace fd
