// In what numbers the cpu back-end packs points: few bits only where they keep the promise.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/accuracy.hpp"

namespace fd::cpu {
namespace {

TEST(CpuAccuracy, FewBitsWhereTheyKeepThePromiseAndNowhereElse) {
  std::size_t fixed = 0, floats = 0;
  for (const double row_error : {4e-6, 1e-4, 1e-3, 8e-3})
    for (double norm = 0.25; norm < 16; norm *= 1.3)
      for (const double dimension : {1.0, 12.0, 300.0, 5000.0})
        for (const double share : {0.05, 0.5, 1.0, 2.0, 60.0}) {
          const Bounds bounds{norm, norm / std::sqrt(dimension), share * norm, dimension};
          const Coding coding = coding_for(Numbers::fixed, bounds, row_error);
          if (coding.numbers == Numbers::fixed) {
            ++fixed;
            EXPECT_LE(4 * fixed_sigma(coding.fraction_bits, bounds) + fixed_bias(coding.fraction_bits, bounds), row_error)
                << norm << " " << dimension << " " << share;
          } else {
            ++floats;
          }
          const Coding split = coding_for(Numbers::split, bounds, row_error);
          if (split.numbers == Numbers::split) {
            EXPECT_LE(split_error(bounds), row_error) << norm << " " << share;
          }
        }
  EXPECT_GT(fixed, 50u);
  EXPECT_GT(floats, 50u);
}

}  // namespace
}  // namespace fd::cpu
