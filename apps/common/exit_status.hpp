// What the program's exit status says.
#pragma once

#include <flashdiffusion/error.hpp>

namespace fd::cli {

enum ExitStatus : int {
  done = 0,
  numbers = 1,        // the numbers are not what was asked for
  wrong_use = 2,      // wrong use or bad input
  failure = 3,        // I/O, memory or device
  interrupted = 130,  // by a signal
};

inline int exit_status(Failure kind) {
  switch (kind) {
    case Failure::misuse:
    case Failure::input: return wrong_use;
    case Failure::interrupted: return interrupted;
    case Failure::io:
    case Failure::memory:
    case Failure::device: break;
  }
  return failure;
}

}  // namespace fd::cli
