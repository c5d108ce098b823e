// What a dataset or attribute of an HDF5 file is, before any of it is read. A file may claim any shape: extents are compared with what it
// stores before memory is spent on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"

namespace fd {

std::vector<std::uint64_t> shape_of(hid_t dataset);

// Throws Error(input) where its values lie in other files (external storage, a virtual dataset): one that is missing would be read as zeros,
// and a file of a stranger could name any other.
void require_own_values(hid_t dataset, const std::string& label);

// Class of its numbers; an enumeration (how booleans are stored) counts as its integers.
H5T_class_t number_class(hid_t type);
bool is_number(H5T_class_t found);

// A column of whole numbers, or of text (fixed or variable length), `count` of them. Throws Error(input), "{label}: …", where the dataset
// is missing, of another length or kind, or claims more than it stores.
std::vector<std::int64_t> read_indices(hid_t file, const std::string& path, std::uint64_t count, const std::string& label);
std::vector<std::string> read_texts(hid_t file, const std::string& path, std::uint64_t count, const std::string& label);

// A text attribute; empty where it is missing or no text.
std::string text_attribute(hid_t file, const std::string& object, const std::string& name);

}  // namespace fd
