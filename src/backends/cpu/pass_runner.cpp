#include "backends/cpu/pass_runner.hpp"

#include <cmath>
#include <cstring>

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

}  // namespace

template <class T>
Pass<T> PassRunner<T>::start(std::size_t width, const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric,
                             double negligible) {
  Pass<T> pass;
  constexpr double lowest = static_cast<double>(Exp2<T>::lowest);
  pass.least_exponent = negligible > 0 ? std::max(lowest, std::log2(negligible)) : lowest;
  pass.symmetric = symmetric;
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
void PassRunner<T>::pack_weights(const Pass<T>& pass, HostColumns<T> w) {
  weights_.at_least(pass.z->panels * panel_rows * pass.stride);
  over_panels(team_, pass.z->panels, [&](std::size_t p) {
    const std::size_t first = pass.z->first_row[p], filled = pass.z->first_row[p + 1] - first;
    const double* factor = pass.z->factor.data() + p * panel_rows;
    T* to = weights_.data() + p * panel_rows * pass.stride;
    for (std::size_t c = 0; c < pass.stride; ++c) {
      const auto [at, step] = pass.column(c);
      for (std::size_t r = 0; r < panel_rows; ++r)
        to[at + r * step] = r < filled && c < w.count ? static_cast<T>(factor[r] * static_cast<double>(w(first + r, c))) : T{0};
    }
  });
}

template <class T>
void PassRunner<T>::play(const Pass<T>& pass, Watch* watch) {
  const Schedule rows(pass.x->panels);
  const double pairs = static_cast<double>(pass.x->rows) * static_cast<double>(pass.z->rows);
  const int most = static_cast<int>(std::min(1e6, 1 + pairs / pairs_worth_a_thread));
  const std::size_t panel_size = panel_rows * pass.stride;
  sums_.at_least(pass.x->panels * panel_size);
  Pass<T> full = pass;
  full.y = sums_.data();
  over_panels(team_, pass.x->panels,
              [&](std::size_t p) { std::memset(full.y + p * panel_size, 0, panel_size * sizeof(double)); });

  // progress is reported from the calling thread, some ten times a second
  using Clock = std::chrono::steady_clock;
  std::atomic<std::size_t> done{0};
  std::size_t total = 0;
  Clock::time_point last_tick = Clock::now();
  const auto poll = [&] {
    if (watch == nullptr || Clock::now() - last_tick < std::chrono::milliseconds(100)) return;
    last_tick = Clock::now();
    watch->tick(static_cast<double>(done.load(std::memory_order_relaxed)) / static_cast<double>(total));
  };

  if (!pass.symmetric) {
    total = rows.blocks();
    team_.run(
        rows.blocks(),
        [&](std::size_t b, int worker) {
          kernels_.tiles(full, rows.block(b), {0, pass.z->panels}, {}, scratch(worker));
          done.fetch_add(1, std::memory_order_relaxed);
        },
        poll, most);
    if (watch != nullptr) watch->tick(1);
    return;
  }
  TaskTimes* const times = watch != nullptr ? watch->task_times() : nullptr;
  // full blocks off the diagonal alone can be compared
  const auto pairs_of = [&](PanelRange a, PanelRange b) {
    const auto rows_of = [&](PanelRange range) { return pass.x->first_row[range.last] - pass.x->first_row[range.first]; };
    return a.first == b.first || b.last == pass.x->panels
               ? 0.0
               : 2.0 * static_cast<double>(rows_of(a)) * static_cast<double>(rows_of(b));
  };
  total = rows.tasks();
  turns_.restart(rows.blocks());
  store_.begin(*pass.x, rows);
  // 2^t = exp(-beta d^2), with t = -(scale d)^2 / 2 at the bandwidth that points are scaled for and `multiple` of that here
  survivors_.begin(*pass.x->bounds, rows, std::sqrt(-2 * pass.least_exponent / pass.x->multiple) / pass.x->scale, team_);
  team_.run(
      total,
      [&](std::size_t index, int worker) {
        const Schedule::Task task = rows.task(index);
        turns_.take(task, [&] {
          const PanelRange a = rows.block(task.first), b = rows.block(task.second);
          TaskTiles<T> tiles;
          tiles.survivors = survivors_.of_task(index);
          store_.put(index, tiles);
          const auto work = [&] { kernels_.tiles(full, a, b, tiles, scratch(worker)); };
          times == nullptr ? work() : times->time(worker, pairs_of(a, b), work);
        });
        done.fetch_add(1, std::memory_order_relaxed);
      },
      poll, most);
  if (watch != nullptr) watch->tick(1);
}

template <class T>
void PassRunner<T>::unpack(const Pass<T>& pass, HostColumns<T> y) {
  over_panels(team_, pass.x->panels, [&](std::size_t p) {
    const std::size_t first = pass.x->first_row[p], filled = pass.x->first_row[p + 1] - first;
    const double* factor = pass.x->factor.data() + p * panel_rows;
    const double* from = sums_.data() + p * panel_rows * pass.stride;
    for (std::size_t c = 0; c < y.count; ++c) {
      const auto [at, step] = pass.column(c);
      const bool squares = pass.epilogue == Epilogue::mass && c == 1;
      for (std::size_t r = 0; r < filled; ++r)
        y(first + r, c) = static_cast<T>(factor[r] * (squares ? factor[r] : 1.0) * from[at + r * step]);
    }
  });
}

template <class T>
void PassRunner<T>::product(const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, HostColumns<T> w,
                            HostColumns<T> y, Watch* watch, double negligible) {
  Pass<T> pass = start(w.count, x, z, symmetric, negligible);
  pack_weights(pass, w);
  pass.weights_x = pass.weights_z = weights_.data();
  play(pass, watch);
  unpack(pass, y);
}

template <class T>
void PassRunner<T>::mass(const PackedPoints<T>& x, HostColumns<T> y, Watch* watch, double negligible) {
  Pass<T> pass = start(2, x, x, true, negligible);
  pass.epilogue = Epilogue::mass;
  pass.stride = 2;
  weights_.at_least(x.panels * panel_rows);
  for (std::size_t p = 0; p < x.panels; ++p)
    for (std::size_t r = 0; r < panel_rows; ++r)
      weights_[p * panel_rows + r] =
          r < x.first_row[p + 1] - x.first_row[p] ? static_cast<T>(x.factor[p * panel_rows + r]) : T{0};
  pass.weights_x = pass.weights_z = weights_.data();
  play(pass, watch);
  unpack(pass, y);
}

template class PassRunner<float>;
template class PassRunner<double>;

}  // namespace fd::cpu
