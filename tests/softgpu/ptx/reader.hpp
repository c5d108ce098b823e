// PTX text in, decoded module out.
//
// Reads what nvcc 13 makes for compute_80, 90 and 120, and PTX written by hand. Throws `Refused` with the line for anything it does not know;
// nothing is skipped silently.
#pragma once
#include <memory>
#include <string>

#include "ptx/program.hpp"

namespace softgpu {

std::unique_ptr<Module> read_module(const std::string& text);

}  // namespace softgpu
