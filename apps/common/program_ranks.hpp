// The processes of an MPI job as the ranks of one program: rank 0 is the program, the others serve it and say nothing. MPI is in a library of its own
// that is opened where a launcher (mpirun, srun) started this process, and nowhere else.
#pragma once

#include <functional>

#include <flashdiffusion/comm.hpp>

namespace fd::cli {

// Called once, by main. Without a launcher `program` is all there is.
int run_on_ranks(const std::function<int()>& program);

Comm* program_ranks();  // of rank 0; null: there are no others

}  // namespace fd::cli
