// Counter-based random numbers (Philox-4x32-10, Salmon et al. 2011): value i of stream s under a seed is a pure function of
// (seed, s, i), so any thread, device or rank can make any part of a random block, and all make the same.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace fd {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::array<std::uint32_t, 4> bits(std::uint64_t index) const {
    std::array<std::uint32_t, 4> c = {low(index), high(index), low(stream_), high(stream_)};
    std::uint32_t k0 = low(seed_), k1 = high(seed_);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0], p1 = std::uint64_t{0xCD9E8D57} * c[2];
      c = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return c;
  }

  // in (0, 1)
  double uniform(std::uint64_t index) const {
    const auto b = bits(index);
    return ((std::uint64_t{b[0]} << 20 ^ b[1]) + 0.5) * 0x1p-52;
  }

  // standard normal (Box–Muller)
  double normal(std::uint64_t index) const {
    const auto b = bits(index);
    const double u = ((std::uint64_t{b[0]} << 20 ^ b[1]) + 0.5) * 0x1p-52;
    const double v = ((std::uint64_t{b[2]} << 20 ^ b[3]) + 0.5) * 0x1p-52;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
  std::uint64_t seed_, stream_;
};

}  // namespace fd
