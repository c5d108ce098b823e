// Points in a .npy array, in a file or in memory (a member of a .npz). Rows are read where they are asked for; the whole is
// never copied. C and Fortran order, either byte order, real and integer types of any width.
#pragma once

#include <memory>

#include <flashdiffusion/points.hpp>
#include <flashdiffusion/read_points.hpp>

#include "io/bytes.hpp"
#include "io/npy_header.hpp"

namespace fd {

// Throws Error(input) where the header is damaged, lies about the size, or does not describe a table of numbers.
std::unique_ptr<PointSource> open_npy(std::unique_ptr<Bytes> bytes, const ReadOptions& options = {});

// Throws Error(input) where an array of `bytes`, header included, is not as long as its header says.
void check_npy_size(const NpyHeader& header, std::uint64_t bytes, const std::string& file);

}  // namespace fd
