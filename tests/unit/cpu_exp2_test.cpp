// The exponential of every instruction set: the stated error of its polynomial (kernel/gaussian.hpp) plus the roundings of Horner's
// rule, over the whole range that occurs, the underflow end included.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backends/cpu/instruction_set.hpp"

namespace fd::test {
namespace {

template <class T>
void check(const cpu::TileKernels<T>& kernels, double tolerance, double lowest) {
  std::vector<T> t;
  for (double x = 0.01; x > lowest; x -= (0.01 - lowest) / 100003) t.push_back(static_cast<T>(x));
  t.push_back(0);
  std::vector<T> e(t.size());
  kernels.exp2(t.data(), e.data(), t.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double exact = std::exp2(static_cast<double>(t[i]));
    ASSERT_NEAR(static_cast<double>(e[i]), exact, tolerance * exact) << "2^" << t[i];
  }
  // beyond the range everything is as good as nothing, and never a NaN
  const std::vector<T> far = {static_cast<T>(10 * lowest), static_cast<T>(-1e30), static_cast<T>(-INFINITY)};
  std::vector<T> tiny(far.size());
  kernels.exp2(far.data(), tiny.data(), far.size());
  for (const T value : tiny) EXPECT_TRUE(value >= 0 && static_cast<double>(value) < 1e-37);
}

TEST(Exp2, EveryInstructionSetKeepsItsError) {
  for (const auto& isa : cpu::available_instruction_sets()) {
    SCOPED_TRACE(isa);
    const auto kernels = cpu::choose_kernels(isa);
    check(*kernels.f32, 7.5e-8 + 3 * 6e-8, -125.5);
    check(*kernels.f64, 2.2e-16 + 3 * 1.2e-16, -1021.5);
  }
}

}  // namespace
}  // namespace fd::test
