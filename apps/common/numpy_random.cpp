#include "common/numpy_random.hpp"

#include <array>

namespace fd::cli {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide multiplier = (Wide{0x2360ED051FC65DA4} << 64) | 0x4385DF649FCCF645;

// SeedSequence(seed).generate_state(8) as 32-bit words: the seed is spread over a pool of four words, and the pool hashed out again.
std::array<std::uint32_t, 8> seed_words(std::uint32_t seed) {
  std::array<std::uint32_t, 4> pool{};
  std::uint32_t constant = 0x43b0d7e5;
  const auto hashed = [&](std::uint32_t value) {
    value ^= constant;
    constant *= 0x931e8875;
    value *= constant;
    return value ^ (value >> 16);
  };
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = hashed(i == 0 ? seed : 0);
  for (std::size_t from = 0; from < pool.size(); ++from)
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from == to) continue;
      const std::uint32_t mixed = 0xca01f9dd * pool[to] - 0x4973f715 * hashed(pool[from]);
      pool[to] = mixed ^ (mixed >> 16);
    }
  std::array<std::uint32_t, 8> words{};
  constant = 0x8b51f9dd;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t value = pool[i % pool.size()] ^ constant;
    constant *= 0x58f38ded;
    value *= constant;
    words[i] = value ^ (value >> 16);
  }
  return words;
}

}  // namespace

NumpyRandom::NumpyRandom(std::uint32_t seed) {
  const auto words = seed_words(seed);
  const auto number = [&](std::size_t i) { return (std::uint64_t{words[2 * i + 1]} << 32) | words[2 * i]; };
  const Wide start = (Wide{number(0)} << 64) | number(1), sequence = (Wide{number(2)} << 64) | number(3);
  increment_ = (sequence << 1) | 1;
  state_ = increment_ + start;
  state_ = state_ * multiplier + increment_;
}

double NumpyRandom::next() {
  state_ = state_ * multiplier + increment_;
  const auto high = static_cast<std::uint64_t>(state_ >> 64), low = static_cast<std::uint64_t>(state_), mixed = high ^ low;
  const auto turn = static_cast<unsigned>(high >> 58);
  const std::uint64_t bits = (mixed >> turn) | (mixed << ((64 - turn) & 63));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// n steps of s -> a s + c are one step with a^n and c (a^n - 1) / (a - 1), by repeated squaring (Brown 1994).
void NumpyRandom::skip(std::uint64_t numbers) {
  Wide factor = 1, shift = 0, step_factor = multiplier, step_shift = increment_;
  for (; numbers > 0; numbers >>= 1) {
    if ((numbers & 1) != 0) {
      factor *= step_factor;
      shift = shift * step_factor + step_shift;
    }
    step_shift = (step_factor + 1) * step_shift;
    step_factor *= step_factor;
  }
  state_ = factor * state_ + shift;
}

}  // namespace fd::cli
