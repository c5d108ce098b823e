// Ctrl-C, SIGTERM, SIGUSR1, SIGXCPU and the end of the session (SIGHUP). While numbers are computed a signal only raises a flag, which the fit reads
// several times a second, and the program unwinds in order. While input is opened, which may block for as long as a pipe or a slow
// disk likes and has left nothing behind yet, a signal ends the program at once. That ends before anything is written, which would stay half done.
#pragma once

#include <memory>

#include <flashdiffusion/points.hpp>

namespace fd::cli {

void catch_interrupts();  // and a closed pipe or a file past its size limit is a write error, not a signal
bool interrupt_requested();
void throw_if_interrupted();  // Error(interrupted)

// For its lifetime a signal ends the program at once, with the exit status of an interruption.
class LeaveAtOnce {
 public:
  LeaveAtOnce();
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;
  LeaveAtOnce& operator=(const LeaveAtOnce&) = delete;
};

// The same points; reading them stops when an interrupt was requested.
std::unique_ptr<PointSource> interruptible(std::unique_ptr<PointSource> source);

}  // namespace fd::cli
