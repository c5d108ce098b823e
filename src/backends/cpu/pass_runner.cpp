#include "backends/cpu/pass_runner.hpp"

#include <chrono>
#include <cmath>
#include <cstring>

#include "base/row_census.hpp"
#include "device/task_times.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cpu {
namespace {

constexpr double pairs_worth_a_thread = 5e5;  // with fewer, waking another thread costs more than it saves

constexpr std::size_t panels_at_once = 64;

// Tasks over pieces of panels: f(panel).
template <class F>
void over_panels(Team& team, std::size_t panels, F&& f) {
  team.run((panels + panels_at_once - 1) / panels_at_once, [&](std::size_t piece, int) {
    for (std::size_t p = piece * panels_at_once; p < std::min(panels, (piece + 1) * panels_at_once); ++p) f(p);
  });
}

// Reports progress from the calling thread, some ten times a second.
class Progress {
 public:
  Progress(Watch* watch, std::size_t total) : watch_(watch), total_(total) {}
  void task_done() { done_.fetch_add(1, std::memory_order_relaxed); }
  void poll() {
    if (watch_ == nullptr || Clock::now() - last_ < std::chrono::milliseconds(100)) return;
    last_ = Clock::now();
    watch_->tick(static_cast<double>(done_.load(std::memory_order_relaxed)) / static_cast<double>(total_));
  }
  void end() {
    if (watch_ != nullptr) watch_->tick(1);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Watch* watch_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  Clock::time_point last_ = Clock::now();
};

template <class T>
int threads_worth(const Pass<T>& pass) {
  const double pairs = static_cast<double>(pass.x->rows) * static_cast<double>(pass.z->rows);
  return static_cast<int>(std::min(1e6, 1 + pairs / pairs_worth_a_thread));
}

}  // namespace

template <class T>
Pass<T> PassRunner<T>::start(std::size_t width, const PackedPoints<T>& x, const PackedPoints<T>& z, bool one_set,
                             double negligible) {
  Pass<T> pass;
  constexpr double lowest = static_cast<double>(Exp2<T>::lowest);
  pass.least_exponent = negligible > 0 ? std::max(lowest, std::log2(negligible)) : lowest;
  pass.one_set = one_set;
  pass.x = &x;
  pass.z = &z;
  if (width <= kernels_.narrow_most) {
    pass.epilogue = Epilogue::narrow;
    pass.stride = width <= 4 ? std::max<std::size_t>(width, 1) : 8;
  } else {
    pass.epilogue = Epilogue::wide;
    pass.stride = (width + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
    pass.block = kernels_.block;
  }
  return pass;
}

template <class T>
Pass<T> PassRunner<T>::start_mass(const PackedPoints<T>& x, const PackedPoints<T>& z, double negligible) {
  Pass<T> pass = start(2, x, z, &x == &z, negligible);
  pass.epilogue = Epilogue::mass;
  pass.stride = 2;
  return pass;
}

template <class T>
const T* PassRunner<T>::pack_weights(const Pass<T>& pass, const PackedPoints<T>& points, HostColumns<T> w, Side& side) {
  side.weights.at_least(points.panels * panel_rows * pass.stride);
  over_panels(team_, points.panels, [&](std::size_t p) {
    const std::size_t first = points.first_row[p], filled = points.first_row[p + 1] - first;
    const double* factor = points.factor.data() + p * panel_rows;
    T* to = side.weights.data() + p * panel_rows * pass.stride;
    for (std::size_t c = 0; c < pass.stride; ++c) {
      const auto [at, step] = pass.column(c);
      for (std::size_t r = 0; r < panel_rows; ++r)
        to[at + r * step] = r < filled && c < w.count ? static_cast<T>(factor[r] * static_cast<double>(w(first + r, c))) : T{0};
    }
  });
  return side.weights.data();
}

template <class T>
const T* PassRunner<T>::pack_ones(const PackedPoints<T>& points, Side& side) {
  side.weights.at_least(points.panels * panel_rows);
  for (std::size_t p = 0; p < points.panels; ++p)
    for (std::size_t r = 0; r < panel_rows; ++r)
      side.weights[p * panel_rows + r] =
          r < points.first_row[p + 1] - points.first_row[p] ? static_cast<T>(points.factor[p * panel_rows + r]) : T{0};
  return side.weights.data();
}

template <class T>
double* PassRunner<T>::clear_sums(const Pass<T>& pass, const PackedPoints<T>& points, Side& side) {
  const std::size_t panel_size = panel_rows * pass.stride;
  side.sums.at_least(points.panels * panel_size);
  double* const sums = side.sums.data();
  over_panels(team_, points.panels, [&](std::size_t p) { std::memset(sums + p * panel_size, 0, panel_size * sizeof(double)); });
  return sums;
}

template <class T>
void PassRunner<T>::play_rows(const Pass<T>& pass, Watch* watch) {
  const Schedule rows(pass.x->panels);
  Progress progress(watch, rows.blocks());
  team_.run(
      rows.blocks(),
      [&](std::size_t b, int worker) {
        kernels_.tiles(pass, rows.block(b), {0, pass.z->panels}, {}, scratch(worker));
        progress.task_done();
      },
      [&] { progress.poll(); }, threads_worth(pass));
  progress.end();
}

template <class T>
template <class AnySchedule>
void PassRunner<T>::play(const Pass<T>& pass, const AnySchedule& schedule, TileStore<T>& store, SurvivingTiles& survivors,
                         Watch* watch) {
  TaskTimes* const times = watch != nullptr ? watch->task_times() : nullptr;
  // full blocks off the diagonal alone can be compared
  const auto pairs_of = [&](PanelRange a, PanelRange b) {
    const auto rows_of = [](const PackedPoints<T>& points, PanelRange range) {
      return static_cast<double>(points.first_row[range.last] - points.first_row[range.first]);
    };
    return pass.diagonal(a.first, b.first) || b.last == pass.z->panels ? 0.0 : 2.0 * rows_of(*pass.x, a) * rows_of(*pass.z, b);
  };
  Progress progress(watch, schedule.tasks());
  turns_.restart(schedule.blocks());
  store.begin(*pass.x, *pass.z, schedule, room_beside(store));
  // 2^t = exp(-beta d^2), with t = -(scale d)^2 / 2 at the bandwidth that points are scaled for and `multiple` of that here
  survivors.begin(*pass.x->bounds, *pass.z->bounds, schedule,
                  std::sqrt(-2 * pass.least_exponent / pass.x->multiple) / pass.x->scale, team_, [&] { progress.poll(); });
  team_.run(
      schedule.tasks(),
      [&](std::size_t index, int worker) {
        const BlockTask task = schedule.task(index);
        turns_.take(task, [&] {
          if (schedule.tiles_of(task) == 0) return;
          const PanelRange a = schedule.block(task.first), b = schedule.block(task.second);
          TaskTiles<T> tiles;
          tiles.survivors = survivors.of_task(index);
          store.put(index, tiles);
          const auto work = [&] { kernels_.tiles(pass, a, b, tiles, scratch(worker)); };
          times == nullptr ? work() : times->time(worker, pairs_of(a, b), work);
        });
        progress.task_done();
      },
      [&] { progress.poll(); }, threads_worth(pass));
  progress.end();
}

// What other tiles than those of `store` leave of the memory for all.
template <class T>
std::size_t PassRunner<T>::room_beside(const TileStore<T>& store) const {
  std::size_t taken = &store == &own_ ? 0 : own_.tiles();
  for (const auto& [visitor, other] : of_pairs_) taken += &other == &store ? 0 : other.tiles();
  return most_tiles_ - std::min(most_tiles_, taken);
}

template <class T>
void PassRunner<T>::play_one_set(Pass<T>& pass, Watch* watch) {
  pass.y_x = pass.y_z = clear_sums(pass, *pass.x, here_);
  play(pass, Schedule(pass.x->panels), own_, survivors_, watch);
}

template <class T>
void PassRunner<T>::play_pair(Pass<T>& pass, Share share, Watch* watch) {
  pass.y_z = clear_sums(pass, *pass.z, visiting_);
  if (const std::uint64_t content = pass.x->bounds->content();
      of_pairs_with_ != content) {  // other points: those before need no memory any more
    of_pairs_.clear();
    survivors_of_pairs_.clear();
    of_pairs_with_ = content;
  }
  const std::uint64_t visitor = mixed(pass.z->bounds->content(), static_cast<std::uint64_t>(share));
  const VisitingPanels visiting{pass.z->first_panel, pass.z->panels, pass.z->of_panels};
  play(pass, PairSchedule(pass.x->panels, visiting, share), of_pairs_.try_emplace(visitor, one_bandwidth_).first->second,
       survivors_of_pairs_[visitor], watch);
}

template <class T>
void PassRunner<T>::unpack(const Pass<T>& pass, const PackedPoints<T>& points, const Side& side, HostColumns<T> y, bool add) {
  over_panels(team_, points.panels, [&](std::size_t p) {
    const std::size_t first = points.first_row[p], filled = points.first_row[p + 1] - first;
    const double* factor = points.factor.data() + p * panel_rows;
    const double* from = side.sums.data() + p * panel_rows * pass.stride;
    for (std::size_t c = 0; c < y.count; ++c) {
      const auto [at, step] = pass.column(c);
      const bool squares = pass.epilogue == Epilogue::mass && c == 1;
      for (std::size_t r = 0; r < filled; ++r) {
        const double sum = factor[r] * (squares ? factor[r] : 1.0) * from[at + r * step];
        T& to = y(first + r, c);
        to = static_cast<T>(add ? static_cast<double>(to) + sum : sum);
      }
    }
  });
}

template <class T>
void PassRunner<T>::product(const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, HostColumns<T> w,
                            HostColumns<T> y, Watch* watch, double negligible) {
  Pass<T> pass = start(w.count, x, z, symmetric, negligible);
  pass.two_directions = symmetric;
  pass.weights_x = pass.weights_z = pack_weights(pass, z, w, here_);
  if (symmetric) play_one_set(pass, watch);
  else {
    pass.y_x = clear_sums(pass, x, here_);
    play_rows(pass, watch);
  }
  unpack(pass, x, here_, y, false);
}

template <class T>
void PassRunner<T>::mass(const PackedPoints<T>& x, HostColumns<T> y, Watch* watch, double negligible) {
  Pass<T> pass = start_mass(x, x, negligible);
  pass.weights_x = pass.weights_z = pack_ones(x, here_);
  play_one_set(pass, watch);
  unpack(pass, x, here_, y, false);
}

template <class T>
void PassRunner<T>::product_pair(const PackedPoints<T>& x, const PackedPoints<T>& z, HostColumns<T> w_x, HostColumns<T> w_z,
                                 HostColumns<T> y_x, HostColumns<T> y_z, Share share, Watch* watch, double negligible,
                                 Turn turn) {
  Pass<T> pass = start(w_x.count, x, z, false, negligible);
  if (turn.first) pack_weights(pass, x, w_x, here_), clear_sums(pass, x, here_);
  pass.weights_x = here_.weights.data();
  pass.y_x = here_.sums.data();
  pass.weights_z = pack_weights(pass, z, w_z, visiting_);
  play_pair(pass, share, watch);
  if (turn.last) unpack(pass, x, here_, y_x, true);
  unpack(pass, z, visiting_, y_z, true);
}

template <class T>
void PassRunner<T>::mass_pair(const PackedPoints<T>& x, const PackedPoints<T>& z, HostColumns<T> y_x, HostColumns<T> y_z,
                              Share share, Watch* watch, double negligible, Turn turn) {
  Pass<T> pass = start_mass(x, z, negligible);
  if (turn.first) pack_ones(x, here_), clear_sums(pass, x, here_);
  pass.weights_x = here_.weights.data();
  pass.y_x = here_.sums.data();
  pass.weights_z = pack_ones(z, visiting_);
  play_pair(pass, share, watch);
  if (turn.last) unpack(pass, x, here_, y_x, true);
  unpack(pass, z, visiting_, y_z, true);
}

template class PassRunner<float>;
template class PassRunner<double>;

}  // namespace fd::cpu
