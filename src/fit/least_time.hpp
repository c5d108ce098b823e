// What the passes of a finished fit would have taken at the limit of the machine's arithmetic: the yardstick of the time they took.
#pragma once

#include <cstddef>

#include <flashdiffusion/model.hpp>

#include "device/backend.hpp"

namespace fd {

// Seconds, from the passes of the model's sweep and their mean width; tiles that are kept are made once a rung. NaN where the back-end does
// not know its limit. Below it a fit gets only by what it leaves out as negligible, or by numbers of few bits.
double least_seconds(Backend& backend, const Model& model, std::size_t coordinates);

}  // namespace fd
