// The buffer: zero at first, empty after a move, and no size that wraps round.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "backends/host_panel.hpp"
#include "base/aligned_buffer.hpp"

namespace fd::test {
namespace {

TEST(AlignedBuffer, WhatWasMovedFromIsEmptyAndCanGrowAgain) {
  for (const std::size_t size : {std::size_t{5}, std::size_t{1} << 20}) {
    AlignedBuffer<double> from(size), to;
    from[3] = 7;
    to = std::move(from);
    EXPECT_EQ(to.size(), size);
    EXPECT_EQ(to[3], 7);
    EXPECT_EQ(from.size(), 0u);  // NOLINT: the state after a move is what is tested
    EXPECT_EQ(from.data(), nullptr);
    from.at_least(4);
    ASSERT_EQ(from.size(), 4u);
    EXPECT_EQ(from[3], 0);
    const AlignedBuffer<double> last(std::move(to));
    EXPECT_EQ(last[3], 7);
    EXPECT_EQ(to.size(), 0u);  // NOLINT
  }
}

TEST(AlignedBuffer, SizesThatDoNotFitAreRefused) {
  EXPECT_EQ(product_of(3, 4, 5), 60u);
  EXPECT_EQ(product_of(0, SIZE_MAX), 0u);
  EXPECT_EQ(product_of(std::size_t{1} << 40, std::size_t{1} << 40), SIZE_MAX);
  EXPECT_EQ(product_of(std::size_t{1} << 31, std::size_t{1} << 31, 1000), SIZE_MAX);
  const auto kind = [](auto&& make) {
    try {
      make();
    } catch (const Error& error) {
      return error.kind();
    }
    return Failure::interrupted;
  };
  EXPECT_EQ(kind([] { AlignedBuffer<double> buffer(SIZE_MAX / 4); }), Failure::memory);
  // 2^33 × (2^31 + 1) is 2^33 modulo 2^64
  EXPECT_EQ(kind([] { HostPanel<float> panel(plain_layout(std::size_t{1} << 33), (std::size_t{1} << 31) + 1, Precision::fp32); }),
            Failure::memory);
}

}  // namespace
}  // namespace fd::test
