#include "bench/blas_peer.hpp"

#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>

#include "base/aligned_buffer.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {
namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;  // cblas.h
constexpr std::size_t block = 512;

}  // namespace

BlasPeer::BlasPeer(const std::string& isa) : exp2_(exp2_near_f32(isa)) {
  // Debian's OpenBLAS does not know newer CPUs and falls back to SSE kernels: name the ones this machine has
  setenv("OPENBLAS_CORETYPE", isa.starts_with("avx512") || isa == "amx" ? "SkylakeX" : isa == "avx2" ? "Haswell" : "Nehalem", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // threads share blocks, not products
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  sgemv_ = reinterpret_cast<Sgemv>(dlsym(library, "cblas_sgemv"));
}

std::vector<float> BlasPeer::product(const std::vector<float>& x, std::size_t n, std::size_t dimension,
                                     const std::vector<float>& w, std::size_t columns, Team& team, TaskTimes& times) const {
  // t = x_i.x_j + a_i + a_j as one inner product of (x_i, a_i, 1) and (x_j, 1, a_j)
  const std::size_t inner = dimension + 2;
  std::vector<float> left(n * inner), right(n * inner);
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::size_t c = 0; c < dimension; ++c) {
      left[i * inner + c] = right[i * inner + c] = x[i * dimension + c];
      square += static_cast<double>(x[i * dimension + c]) * x[i * dimension + c];
    }
    left[i * inner + dimension] = right[i * inner + dimension + 1] = static_cast<float>(-0.5 * square);
    left[i * inner + dimension + 1] = right[i * inner + dimension] = 1;
  }
  const std::size_t blocks = (n + block - 1) / block;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < blocks; ++i)
    for (std::size_t j = i; j < blocks; ++j) pairs.emplace_back(i, j);
  const auto threads = static_cast<std::size_t>(team.threads());
  std::vector<std::vector<float>> sums(threads, std::vector<float>(n * columns, 0.0f));
  std::vector<AlignedBuffer<float>> tiles(threads);
  for (auto& tile : tiles) tile = AlignedBuffer<float>(block * block);
  const auto work = [&](std::size_t i, std::size_t j, int worker) {
    const int rows = static_cast<int>(std::min(block, n - i)), others = static_cast<int>(std::min(block, n - j));
    const int k = static_cast<int>(inner), b = static_cast<int>(columns);
    float* tile = tiles[static_cast<std::size_t>(worker)].data();
    float* y = sums[static_cast<std::size_t>(worker)].data();
    sgemm_(row_major, plain, transposed, rows, others, k, 1, left.data() + i * inner, k, right.data() + j * inner, k, 0, tile,
           others);
    exp2_(tile, tile, static_cast<std::size_t>(rows) * static_cast<std::size_t>(others));
    if (columns == 1) {
      sgemv_(row_major, plain, rows, others, 1, tile, others, w.data() + j, 1, 1, y + i, 1);
      if (j > i) sgemv_(row_major, transposed, rows, others, 1, tile, others, w.data() + i, 1, 1, y + j, 1);
    } else {
      sgemm_(row_major, plain, plain, rows, b, others, 1, tile, others, w.data() + j * columns, b, 1, y + i * columns, b);
      if (j > i)
        sgemm_(row_major, transposed, plain, others, b, rows, 1, tile, others, w.data() + i * columns, b, 1, y + j * columns, b);
    }
  };
  const auto task = [&](std::size_t index, int worker) {
    const std::size_t i = pairs[index].first * block, j = pairs[index].second * block;
    times.time(worker, i != j && j + block <= n ? 2.0 * block * block : 0.0, [&] { work(i, j, worker); });
  };
  team.run(pairs.size(), task, throw_if_interrupted);
  for (std::size_t t = 1; t < threads; ++t)
    for (std::size_t i = 0; i < n * columns; ++i) sums[0][i] += sums[t][i];
  return std::move(sums[0]);
}

}  // namespace fd::cli
