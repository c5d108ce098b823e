// The ranks of an MPI job, all of MPI_COMM_WORLD. In a library of its own, flashdiffusion-mpi, so that nothing else needs MPI.
#pragma once

#include <memory>

#include <flashdiffusion/comm.hpp>

namespace fd {

// Starts MPI where the caller has not, and ends it then with the Comm. Throws Error(device). To be used from the thread that made it.
std::unique_ptr<Comm> mpi_comm();

}  // namespace fd
