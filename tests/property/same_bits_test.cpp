// The default fit, flow and all, gives the same bits run after run and for any number of threads, on tables where eigenvalues coincide,
// rows coincide, or scales lie far apart. FLASHDIFFUSION_LONG_TESTS=1 takes every kind of table and more rows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

// Fresh memory holds another pattern in each run: what is read before it was written shows.
void fill_fresh_memory_with([[maybe_unused]] int pattern) {
#ifdef M_PERTURB
  mallopt(M_PERTURB, pattern);
#endif
}

// All that a model says but for times, memory and provenance.
class Bytes {
 public:
  explicit Bytes(const Model& model) {
    add(model.kernel + "|" + model.outcome);
    for (const double value : {model.beta, model.alpha, model.perron, model.perron_residual, model.beta_exponent,
                               model.beta_exponent_error, model.converged ? 1.0 : 0.0})
      add(value);
    for (const std::size_t count : {model.n, model.dimension, model.passes, model.full_passes, model.columns}) add(count);
    for (const auto* values : {&model.eigenvalues, &model.residuals, &model.q, &model.d, &model.mean}) add(*values);
    for (const Table* table : {&model.psi, &model.points}) table->visit([&](const auto& values) { add(values); });
    for (const Probe& probe : model.sweep) {
      for (const double value : {probe.beta, probe.s_off, probe.s_off_2beta, probe.n_eff, probe.d_hat, probe.perron_gap,
                                 probe.v_bias, probe.v_stat, probe.v_mach, probe.v})
        add(value);
      for (const std::size_t count : {probe.n, probe.localised, probe.passes}) add(count);
      add(probe.outcome);
      add(probe.eigenvalues);
    }
  }
  bool operator==(const Bytes&) const = default;

 private:
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T value : values) add(value);
  }
  void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  std::vector<char> bytes_;
};

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
    const Bytes first(fitted(data, modes, 2));
    int pattern = 0;
    for (const int threads : {2, 2, 2, 2, 1, 3, 7}) {
      fill_fresh_memory_with(pattern += 31);
      EXPECT_TRUE(Bytes(fitted(data, modes, threads)) == first) << modes << " modes, " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SameBits, testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fd::test
