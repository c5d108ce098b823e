// Runs one kernel pass: packs the weights, plays the schedule, unpacks the sums. Buffers are kept from pass to pass.
#pragma once

#include <cstdint>
#include <map>
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
      : kernels_(kernels),
        team_(team),
        most_tiles_(keep_bytes / (tile_entries * sizeof(T) + 1)),
        one_bandwidth_(one_bandwidth),
        own_(one_bandwidth),
        scratch_(static_cast<std::size_t>(team.threads())) {}

  // Y = K(X, Z) W; symmetric (z is x): Y = (K - I) W, each pair evaluated once. Tiles whose entries are all below `negligible` are left out,
  // and those that underflow.
  void product(const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, HostColumns<T> w, HostColumns<T> y,
               Watch* watch, double negligible);
  void mass(const PackedPoints<T>& x, HostColumns<T> y, Watch* watch, double negligible);
  // Both directions between points here and points that visit, added to what Y holds. Weights and sums of rows here stay packed from the first of
  // several visitors to the last.
  void product_pair(const PackedPoints<T>& x, const PackedPoints<T>& z, HostColumns<T> w_x, HostColumns<T> w_z,
                    HostColumns<T> y_x, HostColumns<T> y_z, Share share, Watch* watch, double negligible, Turn turn);
  void mass_pair(const PackedPoints<T>& x, const PackedPoints<T>& z, HostColumns<T> y_x, HostColumns<T> y_z, Share share,
                 Watch* watch, double negligible, Turn turn);

  void release_tiles() { own_.release(), of_pairs_.clear(); }

  Scratch<T>& scratch(int worker) { return scratch_[static_cast<std::size_t>(worker)]; }

 private:
  // What a pass packs for one of its two sets of points: weights, and sums laid out as these are.
  struct Side {
    AlignedBuffer<T> weights;
    AlignedBuffer<double> sums;
  };
  Pass<T> start(std::size_t width, const PackedPoints<T>& x, const PackedPoints<T>& z, bool one_set, double negligible);
  Pass<T> start_mass(const PackedPoints<T>& x, const PackedPoints<T>& z, double negligible);
  const T* pack_weights(const Pass<T>& pass, const PackedPoints<T>& points, HostColumns<T> w, Side& side);
  static const T* pack_ones(const PackedPoints<T>& points, Side& side);
  double* clear_sums(const Pass<T>& pass, const PackedPoints<T>& points, Side& side);
  void play_rows(const Pass<T>& pass, Watch* watch);  // rectangular: every block of rows by itself
  template <class AnySchedule>
  void play(const Pass<T>& pass, const AnySchedule& schedule, TileStore<T>& store, SurvivingTiles& survivors, Watch* watch);
  void play_one_set(Pass<T>& pass, Watch* watch);
  void play_pair(Pass<T>& pass, Share share, Watch* watch);
  void unpack(const Pass<T>& pass, const PackedPoints<T>& points, const Side& side, HostColumns<T> y, bool add);
  std::size_t room_beside(const TileStore<T>& store) const;

  const TileKernels<T>& kernels_;
  Team& team_;
  std::size_t most_tiles_;  // that are kept in all
  bool one_bandwidth_;
  TileStore<T> own_;
  std::map<std::uint64_t, TileStore<T>> of_pairs_;  // by the visitor's checksum and the share
  std::uint64_t of_pairs_with_ = 0;                 // the checksum of the points here
  SurvivingTiles survivors_;
  std::map<std::uint64_t, SurvivingTiles> survivors_of_pairs_;
  std::vector<Scratch<T>> scratch_;
  Side here_, visiting_;
  Turns turns_;
};

}  // namespace fd::cpu
