// The ranks that Python names (flashdiffusion/_mpi.py) as the library's: an object with rank, size, send, receive, expect, progress, ask_stop and
// stop_asked. The lock is taken for each call, by the thread that called the library: MPI sees no other.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include <flashdiffusion/comm.hpp>

namespace fd::python {

namespace nb = nanobind;

class PythonComm final : public Comm {
 public:
  explicit PythonComm(nb::object ranks);  // with the lock held, as where it ends

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, Message message) override;
  Message receive(int from) override;
  void expect(int from) override;
  void progress() override;
  void ask_stop(std::uint64_t work) override;
  bool stop_asked(std::uint64_t work) override;

 private:
  nb::object ranks_;
  int rank_, size_;
};

}  // namespace fd::python
