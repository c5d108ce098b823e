// Runs one kernel pass: packs the weights, plays the schedule, unpacks the sums. Buffers are kept from pass to pass.
#pragma once

#include <chrono>
#include <vector>

#include "backends/cpu/schedule.hpp"
#include "backends/cpu/surviving_tiles.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/tile_store.hpp"
#include "backends/host_panel.hpp"
#include "base/team.hpp"
#include "device/watch.hpp"

namespace fd::cpu {

template <class T>
class PassRunner {
 public:
  // `keep_bytes`: memory for tiles that are kept from pass to pass.
  PassRunner(const TileKernels<T>& kernels, Team& team, std::size_t keep_bytes, bool one_bandwidth)
      : kernels_(kernels), team_(team), store_(keep_bytes, one_bandwidth), scratch_(static_cast<std::size_t>(team.threads())) {}

  // Y = K(X, Z) W; symmetric (z is x): Y = (K - I) W, each pair evaluated once. Tiles whose entries are all below `negligible` are left out,
  // and those that underflow.
  void product(const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, HostColumns<T> w, HostColumns<T> y,
               Watch* watch, double negligible);
  void mass(const PackedPoints<T>& x, HostColumns<T> y, Watch* watch, double negligible);

  void release_tiles() { store_.release(); }

  Scratch<T>& scratch(int worker) { return scratch_[static_cast<std::size_t>(worker)]; }

 private:
  Pass<T> start(std::size_t width, const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, double negligible);
  void pack_weights(const Pass<T>& pass, HostColumns<T> w);
  void play(const Pass<T>& pass, Watch* watch);
  void unpack(const Pass<T>& pass, HostColumns<T> y);

  const TileKernels<T>& kernels_;
  Team& team_;
  TileStore<T> store_;
  SurvivingTiles survivors_;
  std::vector<Scratch<T>> scratch_;
  AlignedBuffer<T> weights_;
  AlignedBuffer<double> sums_;
  Turns turns_;
};

}  // namespace fd::cpu
