// Points in a sparse matrix of an HDF5 file, as AnnData and scipy store it: a group with data, indices, indptr and a shape. By rows (CSR) it
// is read piece by piece; by columns (CSC) it is turned into rows in memory, 16 bytes an entry and 8 a row, which is noted. Entries at
// the same place add up, as in scipy. Offsets and indices are checked before they are used.
#pragma once

#include <memory>
#include <string>

#include <flashdiffusion/points.hpp>

#include "io/hdf5_handle.hpp"

namespace fd {

bool is_sparse(hid_t file, const std::string& group);

// `label` is for messages. Throws Error(input) where the parts of the matrix contradict each other.
std::unique_ptr<PointSource> open_sparse(hid_t file, const std::string& group, const std::string& label);

}  // namespace fd
