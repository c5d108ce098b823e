// NumPy's default generator, numpy.random.default_rng(seed).random(): PCG64 (O'Neill's PCG XSL RR 128/64) seeded through SeedSequence. Points
// that a Python program drew can so be drawn again, any part of them, without those before it.
//
// Guarantees: the same doubles as NumPy, from any place of the sequence. Seeds below 2^32.
#pragma once

#include <cstdint>

namespace fd::cli {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);

  double next();                     // in [0, 1)
  void skip(std::uint64_t numbers);  // as if so many had been drawn

 private:
  __extension__ using Wide = unsigned __int128;
  Wide state_ = 0, increment_ = 0;
};

}  // namespace fd::cli
