// A rank's part of everything: its own back-end, the points and panels of its rows by the numbers that rank 0 gave them, and what a call does with
// them. A rank without rows of a table does nothing there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <flashdiffusion/comm.hpp>

#include "backends/ranks/call.hpp"
#include "backends/ranks/half_ring.hpp"
#include "backends/ranks/shares.hpp"
#include "device/backend.hpp"

namespace fd::ranks {

class Shard {
 public:
  Shard(Comm& comm, const Call& open);

  Backend& backend() { return *backend_; }
  const Backend& backend() const { return *backend_; }
  Shares shares(std::size_t rows) const { return {rows, static_cast<std::size_t>(comm_.size()), rows_a_rank_}; }

  std::size_t values_here(const Call& load) const {  // in the rows of this rank
    return shares(load.rows).count(static_cast<std::size_t>(comm_.rank())) * load.columns;
  }
  // The rows of this rank, and what all of them are part of.
  void load(const Call& call, std::vector<double> rows, std::size_t dimension, const Whole& whole);
  void upload(const Call& call, const double* rows);  // of this rank
  std::vector<double> download(const Call& call);
  // Any other call; numbers that it gives are to be added up over ranks, or compared. `failed`: of a pass only what other ranks wait for is done.
  std::vector<double> run(const Call& call, Watch* watch, bool failed = false);

 private:
  struct Loaded {
    std::unique_ptr<Points> points;  // null: no rows here
    std::size_t rows = 0;            // of all ranks together
    std::vector<Part> parts;         // as they visit other ranks
    Guests guests;
  };
  Columns columns(const Window& window);  // none where there are no rows here
  void pass(const Call& call, Watch* watch, bool failed);
  void make_panel(const Call& call);
  std::vector<double> gram(const Call& call);

  Comm& comm_;
  std::size_t rows_a_rank_;
  std::unique_ptr<Backend> backend_;
  std::map<std::uint64_t, Loaded> points_;
  std::map<std::uint64_t, std::unique_ptr<Panel>> panels_;
};

}  // namespace fd::ranks
