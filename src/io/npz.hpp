// Points in a .npz archive: a zip of .npy arrays, stored or deflated. The array asked for is unpacked to memory in its own
// type; zip checksums are verified.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>
#include <flashdiffusion/read_points.hpp>

namespace fd {

// `name` may be empty where the archive holds a single array; otherwise the error lists names and shapes.
std::unique_ptr<PointSource> open_npz(const std::string& path, const std::string& name, const ReadOptions& options = {});

// Of the arrays in the archive, in its order.
std::vector<std::string> npz_names(const std::string& path);

}  // namespace fd
