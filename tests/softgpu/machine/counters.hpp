// What a launch did, an instruction each, and where it is written at the end: counters as JSON, line coverage as a table.
//
// Wavefronts are passes through the banks of shared memory, sectors are 32 bytes of global memory; `ideal` is what the same accesses would
// cost without conflicts, with all lanes side by side.
#pragma once
#include <array>
#include <map>
#include <memory>

#include "ptx/program.hpp"

namespace softgpu {

struct Counters {
  struct Line {
    u64 runs = 0, lanes = 0, wavefronts = 0, ideal_wavefronts = 0, sectors = 0, ideal_sectors = 0;
  };
  std::vector<Line> lines;
  u64 launches = 0, blocks = 0, barriers = 0;
  double seconds = 0;
  void add(const Counters& other);
};

// Of all launches of the process, by kernel and target. Safe for several threads.
class Ledger {
 public:
  void add(std::shared_ptr<const Module> module, const Function& kernel, const Counters& counters);
  void know(std::shared_ptr<const Module> module);  // its lines count for coverage even if none is run
  void write_counters(const std::string& path) const;
  void write_coverage(const std::string& path) const;  // adds to what the file holds
  void clear();

 private:
  struct Entry {
    std::shared_ptr<const Module> module;
    Counters counters;
  };
  std::map<std::pair<std::string, int>, Entry> entries_;  // kernel and target
  std::map<const Module*, std::shared_ptr<const Module>> known_;
};

}  // namespace softgpu
