#include "io/hdf5_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/disk_space.hpp"

namespace fd {
namespace {

Hdf5 string_type(std::size_t size) {
  Hdf5 type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

Hdf5 simple_space(const std::vector<hsize_t>& shape) {
  return Hdf5(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
}

// Properties of anything that is created: no times; attributes and links inside the header, in the order they were made.
Hdf5 plain(hid_t kind) {
  Hdf5 properties(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  if (kind != H5P_DATASET_CREATE) H5Pset_link_phase_change(properties, 64, 0);
  H5Pset_attr_phase_change(properties, 64, 0);
  return properties;
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::string& file, std::string shown, std::uint64_t bytes) : shown_(std::move(shown)) {
  const Hdf5 access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  errno = 0;
  file_ = Hdf5(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, plain(H5P_FILE_CREATE), access), H5Fclose);
  check(static_cast<bool>(file_), "the file");
  reserve_space(file, shown_, bytes + (1 << 16));
}

void Hdf5Writer::check(bool good, const std::string& what) const {
  if (good) return;
  const std::string reason = errno != 0 ? std::strerror(errno) : "HDF5 could not write it";
  throw Error(Failure::io, fmt::format("cannot write {} ({}): {}", shown_, what, reason),
              "check that the disk has room and works");
}

void Hdf5Writer::write(const std::string& path, const Hdf5& space, hid_t stored, hid_t memory, const void* values) {
  const Hdf5 creation = plain(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_CONTIGUOUS);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  errno = 0;
  Hdf5 dataset(H5Dcreate2(file_, path.c_str(), stored, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  check(static_cast<bool>(dataset), path);
  if (H5Sget_simple_extent_npoints(space) > 0) check(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, path);
  check(dataset.close(), path);
}

void Hdf5Writer::array(const std::string& path, const std::vector<hsize_t>& shape, const float* values) {
  write(path, simple_space(shape), H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values);
}
void Hdf5Writer::array(const std::string& path, const std::vector<hsize_t>& shape, const double* values) {
  write(path, simple_space(shape), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
}
void Hdf5Writer::array(const std::string& path, const std::vector<hsize_t>& shape, const std::int64_t* values) {
  write(path, simple_space(shape), H5T_STD_I64LE, H5T_NATIVE_INT64, values);
}

void Hdf5Writer::write_strings(const std::string& path, const Hdf5& space, const std::vector<std::string>& values) {
  std::size_t width = 1;
  for (const std::string& value : values) width = std::max(width, value.size());
  std::vector<char> padded(width * values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    std::copy(values[i].begin(), values[i].end(), padded.begin() + static_cast<std::ptrdiff_t>(i * width));
  const Hdf5 type = string_type(width);
  write(path, space, type, type, padded.data());
}

void Hdf5Writer::text(const std::string& path, const std::string& value) {
  write_strings(path, Hdf5(H5Screate(H5S_SCALAR), H5Sclose), {value});
}
void Hdf5Writer::text(const std::string& path, const std::vector<std::string>& values) {
  write_strings(path, simple_space({values.size()}), values);
}

void Hdf5Writer::group(const std::string& path) {
  errno = 0;
  Hdf5 made(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, plain(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose);
  check(static_cast<bool>(made) && made.close(), path);
}

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name, hid_t stored, hid_t memory,
                                 const void* value) {
  const Hdf5 space(H5Screate(H5S_SCALAR), H5Sclose);
  errno = 0;
  Hdf5 made(H5Acreate_by_name(file_, object.c_str(), name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose);
  check(static_cast<bool>(made) && H5Awrite(made, memory, value) >= 0 && made.close(), name);
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::string& value) {
  const Hdf5 type = string_type(std::max<std::size_t>(1, value.size()));
  write_attribute(object, name, type, type, value.c_str());  // an empty text is one zero
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, double value) {
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, bool value) {
  // The enumeration that h5py and PyTables read as a boolean.
  const Hdf5 type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0, yes = 1, chosen = value ? yes : no;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  write_attribute(object, name, type, type, &chosen);
}

void Hdf5Writer::close() {
  errno = 0;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "last pages");
  check(file_.close(), "last pages");
}

}  // namespace fd
