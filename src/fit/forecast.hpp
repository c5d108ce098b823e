// What a fit is made of, stage by stage, and what that takes: known before the fit, and held against it while it runs.
//
// Work is counted in passes: n^2 pairs each, at a cost fixed + by_column × width a pair that is measured on a sample. How many passes a
// stage takes is experience, corrected while a fit runs by what its stages did take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <flashdiffusion/estimate.hpp>

#include "device/backend.hpp"
#include "fit/centred_source.hpp"
#include "flow/ladder.hpp"

namespace fd {

// The rungs a fit climbs; one, where the bandwidth is given or the ladder is not wanted.
std::vector<Rung> fit_rungs(std::size_t rows, const Options& options);

// Vectors a warm start carries beyond the modes: `least` or a few more, so that with the degree its first pass is a multiple of 8
// columns wide.
std::size_t carried_beyond(std::size_t modes, std::size_t least = 16);

// Passes after which a solve or probe gives up; with a block below 8 as many more as make the same number of columns.
std::size_t most_solver_passes(const Options& options, std::size_t block);

// Seconds an unordered pair of points, by the width of the pass.
struct PassCost {
  double fixed = 0, by_column = 0;
  double seconds(double pairs, double columns) const { return pairs * (fixed + by_column * columns); }
};
// Ranks that share a pass: each sends its rows to half of the others (as points, weights and, back home, sums), and of the rest of the work each has
// its share. Nothing is reckoned with that overlaps.
struct Sharing {
  std::size_t ranks = 1, least_rows = 1;
  double bytes_a_row = 0, bytes_a_column = 0, bytes_per_second = 1;
  double seconds(double alone, double rows, double columns) const {
    const double sharing = std::clamp(std::floor(rows / static_cast<double>(least_rows)), 1.0, static_cast<double>(ranks));
    if (sharing < 2) return alone;
    return alone / sharing + 0.5 * rows * (bytes_a_row + columns * bytes_a_column) / bytes_per_second;
  }
};

// Seconds of a pass over tiles that are made, and over those that were kept, with the share of the latter by the number of rows.
struct PassCosts {
  PassCost made, kept;
  std::function<Backend::Kept(std::size_t)> kept_of = [](std::size_t) { return Backend::Kept{}; };
  Sharing sharing = {};
  std::function<bool(std::size_t)> kept_as_a_rule = [](std::size_t) { return false; };  // whatever the memory: the solver's plan
  PassCost of(std::size_t rows) const {
    const double share = kept_of(rows).share;
    return {made.fixed + share * (kept.fixed - made.fixed), made.by_column + share * (kept.by_column - made.by_column)};
  }
};
PassCost measure_pass_cost(Backend& backend, PointSource& sample, Precision precision, double beta);

struct StageForecast {
  double seconds = 0;
  std::size_t passes = 0, columns = 0;
};

class FitForecast {
 public:
  FitForecast() = default;
  FitForecast(std::size_t rows, std::size_t dimension, const Options& options, const PassCosts& costs);

  Forecast total() const { return total_; }
  bool known() const { return !rungs_.empty(); }
  // One stage ("extend", "probe", "solve") on a rung of n rows, and all that follows it when `probes` have been begun there.
  double stage_seconds(const std::string& stage, std::size_t n) const;
  double seconds_after(const std::string& stage, std::size_t n, std::size_t probes) const;
  // Passes that stage is expected to take, and the most it may.
  std::size_t stage_passes(const std::string& stage, std::size_t n) const;
  std::size_t most_passes() const { return most_passes_; }

 private:
  struct RungForecast {
    std::size_t n = 0, probes = 0;
    StageForecast extend, probe, solve;
  };
  const RungForecast* find(std::size_t n) const;
  StageForecast stage_of(const std::string& stage, std::size_t n) const;

  std::vector<RungForecast> rungs_;
  std::size_t most_passes_ = 0;
  Forecast total_;
};

// Measures on a sample of the points, with the back-end of one rank.
FitForecast forecast_fit(Backend& backend, PointSource& points, const PointSummary& summary, const Options& options);

// How many modes may have to be solved for: those that are returned and, where localised ones are left out, these.
std::size_t solved_modes(const Options& options);

// Of a fit at its peak, whatever its budget. Without what is kept of the kernel, which takes what is left of the budget, or of half of the
// free memory.
double fit_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options);
// The same of rank 0 of several, which also holds the model.
double rank0_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options, std::size_t ranks);
std::size_t keep_bytes(std::size_t rows, std::size_t dimension, const Options& options);

// What is wrong with a fit's memory, before anything is read: more than the budget that was set or, where none was, more than is free.
// Empty where nothing is.
std::string memory_complaint(std::size_t rows, std::size_t dimension, const Options& options);
// Throws it, as Error(memory).
void require_memory(std::size_t rows, std::size_t dimension, const Options& options);

}  // namespace fd
