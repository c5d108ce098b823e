// Called by a back-end from the calling thread while a pass runs, several times a second at least, and with 1 at its end.
// May throw to stop the pass.
#pragma once

namespace fd {

class TaskTimes;

class Watch {
 public:
  virtual ~Watch() = default;
  virtual void pass_begins() {}
  virtual void tick(double fraction_of_pass) = 0;
  // Where a symmetric pass notes how long its tasks took; benchmarks ask for it.
  virtual TaskTimes* task_times() { return nullptr; }
};

}  // namespace fd
