#include "backends/cpu/pass_runner.hpp"

#include <cstring>

namespace fd::cpu {
namespace {

constexpr double pairs_worth_a_thread = 1e5;  // in one round: with fewer, meeting another thread costs more than it saves

constexpr std::size_t rows_at_once = 4096;

// Tasks over pieces of rows.
template <class F>
void over_rows(Team& team, std::size_t rows, F&& f) {
  team.run((rows + rows_at_once - 1) / rows_at_once,
           [&](std::size_t piece, int) { f(piece * rows_at_once, std::min(rows, (piece + 1) * rows_at_once)); });
}

}  // namespace

template <class T>
Pass<T> PassRunner<T>::start(std::size_t width, const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric) {
  Pass<T> pass;
  pass.symmetric = symmetric;
  pass.x = &x;
  pass.z = &z;
  pass.width = width;
  if (width <= kernels_.narrow_most) {
    pass.epilogue = Epilogue::narrow;
    pass.stride = 1;
    while (pass.stride < width) pass.stride *= 2;
  } else {
    pass.epilogue = Epilogue::wide;
    pass.stride = (width + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
  }
  return pass;
}

template <class T>
void PassRunner<T>::pack_weights(const Pass<T>& pass, HostColumns<T> w) {
  const std::size_t padded = pass.z->panels * panel_rows;
  weights_.at_least(padded * pass.stride);
  const bool wide = pass.epilogue == Epilogue::wide;
  over_rows(team_, padded, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t p = i / panel_rows, r = i % panel_rows;
      T* to = weights_.data() + (wide ? i * pass.stride : p * panel_rows * pass.stride + r);
      const std::size_t step = wide ? 1 : panel_rows;
      for (std::size_t c = 0; c < pass.stride; ++c) to[c * step] = i < w.rows && c < w.count ? w(i, c) : T{0};
    }
  });
}

template <class T>
void PassRunner<T>::play(const Pass<T>& pass, Watch* watch) {
  const Schedule rows(pass.x->panels);
  const double pairs = static_cast<double>(pass.x->rows) * static_cast<double>(pass.z->rows);
  const int most = static_cast<int>(std::min(1e6, 1 + pairs / static_cast<double>(rows.rounds()) / pairs_worth_a_thread));
  sums_.at_least(pass.x->rows * pass.stride);
  Pass<T> full = pass;
  full.y = sums_.data();
  over_rows(team_, pass.x->rows, [&](std::size_t first, std::size_t last) {
    std::memset(full.y + first * pass.stride, 0, (last - first) * pass.stride * sizeof(double));
  });

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
          kernels_.tiles(full, rows.block(b), {0, pass.z->panels}, scratch(worker));
          done.fetch_add(1, std::memory_order_relaxed);
        },
        poll, most);
    return;
  }
  for (std::size_t round = 0; round < rows.rounds(); ++round) total += rows.tasks(round);
  for (std::size_t round = 0; round < rows.rounds(); ++round)
    team_.run(
        rows.tasks(round),
        [&](std::size_t task, int worker) {
          const auto [first, second, rests] = rows.pair(round, task);
          if (!rests) kernels_.tiles(full, rows.block(first), rows.block(second), scratch(worker));
          done.fetch_add(1, std::memory_order_relaxed);
        },
        poll, most);
}

template <class T>
void PassRunner<T>::unpack(const Pass<T>& pass, HostColumns<T> y) {
  over_rows(team_, y.rows, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t c = 0; c < y.count; ++c) y(i, c) = static_cast<T>(sums_[i * pass.stride + c]);
  });
}

template <class T>
void PassRunner<T>::product(const PackedPoints<T>& x, const PackedPoints<T>& z, bool symmetric, HostColumns<T> w, HostColumns<T> y, Watch* watch) {
  Pass<T> pass = start(w.count, x, z, symmetric);
  pack_weights(pass, w);
  pass.weights_x = pass.weights_z = weights_.data();
  play(pass, watch);
  unpack(pass, y);
}

template <class T>
void PassRunner<T>::mass(const PackedPoints<T>& x, HostColumns<T> y, Watch* watch) {
  Pass<T> pass = start(2, x, x, true);
  pass.epilogue = Epilogue::mass;
  pass.stride = 2;
  const std::size_t padded = x.panels * panel_rows;
  weights_.at_least(padded);
  for (std::size_t i = 0; i < padded; ++i) weights_[i] = i < x.rows ? T{1} : T{0};
  pass.weights_x = pass.weights_z = weights_.data();
  play(pass, watch);
  unpack(pass, y);
}

template class PassRunner<float>;
template class PassRunner<double>;

}  // namespace fd::cpu
