// Stops a kernel pass, or a fit, when an interrupt was requested.
#pragma once

#include <flashdiffusion/options.hpp>

#include "common/interrupt.hpp"
#include "device/watch.hpp"

namespace fd::cli {

class InterruptWatch : public Watch {
 public:
  void tick(double) override { throw_if_interrupted(); }
};

class InterruptObserver : public Observer {
 public:
  bool stop() override { return interrupt_requested(); }
};

}  // namespace fd::cli
