// What ranks other than 0 do: the calls that rank 0 sends, one after the other. An error is kept, and calls are passed over, until one that is answered
// tells rank 0 of it.
#pragma once

#include <flashdiffusion/comm.hpp>

namespace fd::ranks {

void serve(Comm& comm);    // returns when rank 0 dismisses this rank
void dismiss(Comm& comm);  // by rank 0

}  // namespace fd::ranks
