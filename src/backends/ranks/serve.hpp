// What ranks other than 0 do: the calls that rank 0 sends, one after the other. An error is kept, and calls are passed over, until one that is answered
// tells rank 0 of it.
#pragma once

#include <flashdiffusion/comm.hpp>

namespace fd::ranks {

// Returns when rank 0 says that it is finished.
void serve(Comm& comm);

}  // namespace fd::ranks
