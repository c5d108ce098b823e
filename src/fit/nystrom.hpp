// The Nyström extension of a model's modes to other points.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd {

// lambda^time psi at `fresh`. A row beyond the kernel's reach of every fitted point is NaN, and named in `unreachable` where that is
// given.
Table extend(const Model& model, PointSource& fresh, double time, const Options& options,
             std::vector<std::size_t>* unreachable = nullptr);

}  // namespace fd
