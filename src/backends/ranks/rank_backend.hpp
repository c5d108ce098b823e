// A back-end whose rows are spread over ranks, each with a back-end of its own (cpu, cuda, ...). Rank 0 has this one: what is above it sees whole
// panels and one sum, decides once, and knows nothing of ranks; the other ranks serve().
#pragma once

#include <memory>

#include <flashdiffusion/comm.hpp>

#include "device/backend.hpp"

namespace fd {

// `request.comm`: this process is rank 0 of it, and the others serve. Without: `request.ranks` threads of this process.
std::unique_ptr<Backend> make_rank_backend(const BackendRequest& request);

}  // namespace fd
