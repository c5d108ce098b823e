#include "io/hdf5_dataset.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

namespace fd {
namespace {

Error damaged(const std::string& label, const std::string& path, const char* what) {
  return Error(Failure::input, fmt::format("{}: {} {}", label, path, what),
               "the file is damaged or of a foreign kind: write it again");
}

// The dataset, once it is known to hold `count` values that it does store: no filter that is in use packs better than this.
Hdf5 column(hid_t file, const std::string& path, std::uint64_t count, const std::string& label) {
  constexpr std::uint64_t packing = 1 << 14;
  Hdf5 dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) throw damaged(label, path, "is missing");
  require_own_values(dataset, label);
  if (shape_of(dataset) != std::vector<std::uint64_t>{count}) throw damaged(label, path, "has another length than the table");
  if (count / packing > H5Dget_storage_size(dataset)) throw damaged(label, path, "claims more values than it stores");
  return dataset;
}

bool read_piece(hid_t dataset, hid_t type, hsize_t first, hsize_t count, void* out) {
  const Hdf5 from(H5Dget_space(dataset), H5Sclose), to(H5Screate_simple(1, &count, nullptr), H5Sclose);
  return from && to && H5Sselect_hyperslab(from, H5S_SELECT_SET, &first, nullptr, &count, nullptr) >= 0 &&
         H5Dread(dataset, type, to, from, H5P_DEFAULT, out) >= 0;
}

}  // namespace

void require_own_values(hid_t dataset, const std::string& label) {
  const Hdf5 creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation || (H5Pget_external_count(creation) == 0 && H5Pget_layout(creation) != H5D_VIRTUAL)) return;
  throw Error(Failure::input, fmt::format("{}: its values lie in other files", label),
              "write them into one file (in Python: read the dataset with h5py and create it anew)");
}

std::vector<std::uint64_t> shape_of(hid_t dataset) {
  const Hdf5 space(H5Dget_space(dataset), H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space) : -1;
  std::vector<hsize_t> extents(rank > 0 ? static_cast<std::size_t>(rank) : 0);
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

H5T_class_t number_class(hid_t type) {
  const H5T_class_t found = H5Tget_class(type);
  return found == H5T_ENUM ? H5T_INTEGER : found;
}

bool is_number(H5T_class_t found) { return found == H5T_INTEGER || found == H5T_FLOAT; }

std::vector<std::int64_t> read_indices(hid_t file, const std::string& path, std::uint64_t count, const std::string& label) {
  const Hdf5 dataset = column(file, path, count, label);
  const Hdf5 type(H5Dget_type(dataset), H5Tclose);
  if (!type || H5Tget_class(type) != H5T_INTEGER) throw damaged(label, path, "does not hold whole numbers");
  std::vector<std::int64_t> values(count);  // signed: HDF5 would turn what is below zero into zero
  if (count > 0 && !read_piece(dataset, H5T_NATIVE_INT64, 0, count, values.data())) throw damaged(label, path, "cannot be read");
  return values;
}

std::vector<std::string> read_texts(hid_t file, const std::string& path, std::uint64_t count, const std::string& label) {
  const Hdf5 dataset = column(file, path, count, label);
  const Hdf5 type(H5Dget_type(dataset), H5Tclose);
  if (!type || H5Tget_class(type) != H5T_STRING) throw damaged(label, path, "does not hold text");
  const bool variable = H5Tis_variable_str(type) > 0;
  const std::size_t width = H5Tget_size(type);
  const std::size_t piece = std::max<std::size_t>(1, (std::size_t{1} << 20) / std::max<std::size_t>(1, width));
  std::vector<std::string> values;
  values.reserve(count);
  std::vector<char> buffer;
  for (std::uint64_t first = 0; first < count; first += piece) {
    const hsize_t now = std::min<hsize_t>(piece, count - first);
    buffer.assign(now * width, '\0');
    if (!read_piece(dataset, type, first, now, buffer.data())) throw damaged(label, path, "cannot be read");
    if (!variable) {
      for (hsize_t i = 0; i < now; ++i) {
        const char* text = buffer.data() + i * width;
        values.emplace_back(text, std::find(text, text + width, '\0'));
      }
      continue;
    }
    char** texts = reinterpret_cast<char**>(buffer.data());
    for (hsize_t i = 0; i < now; ++i) values.emplace_back(texts[i] != nullptr ? texts[i] : "");
    const Hdf5 space(H5Screate_simple(1, &now, nullptr), H5Sclose);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer.data());
  }
  return values;
}

std::string text_attribute(hid_t file, const std::string& object, const std::string& name) {
  const Hdf5 found(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Hdf5 space(found ? H5Aget_space(found) : -1, H5Sclose), type(found ? H5Aget_type(found) : -1, H5Tclose);
  if (!space || !type || H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != H5T_STRING) return {};
  if (H5Tis_variable_str(type) <= 0) {
    std::string value(H5Tget_size(type), '\0');
    if (H5Aread(found, type, value.data()) < 0) return {};
    return value.substr(0, value.find('\0'));
  }
  char* characters = nullptr;
  if (H5Aread(found, type, &characters) < 0) return {};
  std::string value = characters != nullptr ? characters : "";
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, &characters);
  return value;
}

}  // namespace fd
