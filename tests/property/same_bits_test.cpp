// The default fit, flow and all, gives the same bits run after run and for any number of threads, on tables where eigenvalues coincide,
// rows coincide, or scales lie far apart. FLASHDIFFUSION_LONG_TESTS=1 takes every kind of table and more rows.
#include <gtest/gtest.h>

#include <cstdlib>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/model_bytes.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

// Fresh memory holds another pattern in each run: what is read before it was written shows.
void fill_fresh_memory_with([[maybe_unused]] int pattern) {
#ifdef M_PERTURB
  mallopt(M_PERTURB, pattern);
#endif
}

bool long_tests() { return std::getenv("FLASHDIFFUSION_LONG_TESTS") != nullptr; }

std::vector<std::string> kinds() {
  if (!long_tests()) return {"normal", "two_clusters", "three_clusters", "five_rows", "hadamard", "heavy_tails"};
  std::vector<std::string> all;
  for (const TableKind& kind : table_kinds()) all.emplace_back(kind.name);
  return all;
}

class SameBits : public testing::TestWithParam<std::string> {
 protected:
  ~SameBits() override { fill_fresh_memory_with(0); }
  static Model fitted(const Dataset& data, std::size_t modes, int threads) {
    Options options;
    options.modes = modes;
    options.threads = threads;
    return fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  }
};

TEST_P(SameBits, RunAfterRunAndForAnyNumberOfThreads) {
  const Dataset data = make_table(GetParam(), long_tests() ? 800 : 200, 3, 5);
  for (const std::size_t modes : {1, 3, 24, 60}) {
    fill_fresh_memory_with(0);
    const ModelBytes first(fitted(data, modes, 2));
    int pattern = 0;
    for (const int threads : {2, 2, 2, 2, 1, 3, 7}) {
      fill_fresh_memory_with(pattern += 31);
      EXPECT_TRUE(ModelBytes(fitted(data, modes, threads)) == first) << modes << " modes, " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SameBits, testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fd::test
