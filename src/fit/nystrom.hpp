// The Nyström extension of a model's modes to other points.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd {

// lambda^time psi at `fresh`. A row beyond the kernel's reach of every fitted point is an error, or, where `unreachable` is given, named
// there and left at zero.
Table extend(const Model& model, PointSource& fresh, double time, const Options& options, std::vector<std::size_t>* unreachable);

}  // namespace fd
