// What must hold in every model. Each function returns the first thing that does not, in words, or nothing.
#pragma once

#include <string>

#include <flashdiffusion/model.hpp>

namespace fd {

std::string wrong_setting(const Model& model);  // kernel, beta, alpha, eigenvalues, residuals, mean
std::string wrong_shape(const Model& model);    // arrays against n, dimension and modes; all but the points must be there
std::string wrong_entry(const Model& model);    // psi, q, d and points, value by value

}  // namespace fd
