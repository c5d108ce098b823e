// The Nyström extension of a model's modes to other points.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd {

// lambda^time psi at `fresh`. Rows beyond the kernel's reach of every fitted one are placed all the same (far_rows.hpp), and named in
// `beyond_reach` where that is given. A model whose arrays lead to a coordinate that is not finite is an Error(input).
Table extend(const Model& model, PointSource& fresh, double time, const Options& options,
             std::vector<std::size_t>* beyond_reach = nullptr);

// lambda^(time - 1), lambda no further from 0 than 1, by which sum_j p(x, j) psi_j of that mode becomes its coordinate at x. 0 where
// lambda^time does not exist, and before time 1 where lambda is no larger than the error e that the precision promises for the sum: divided,
// the error e / |lambda| would be larger than psi itself, so that 0 is nearer.
double extension_scale(const Model& model, std::size_t mode, double time);

}  // namespace fd
