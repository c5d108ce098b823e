// The oracle: every verb in naive fp64, obviously right, in the order of the formula. Any precision is served in fp64.
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace fd {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace fd
