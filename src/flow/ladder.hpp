// The ladder: on which sub-samples, in which precision, the flow runs, and where it starts on each. Pure.
//
// Guarantees: sizes ascend and end in n; samples are nested: a smaller one is a subset of every larger one under one seed.
// Does not know: what a rung costs, nor what was found on it beyond (size, beta).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <flashdiffusion/precision.hpp>

#include "base/power_law.hpp"

namespace fd {

struct Rung {
  std::size_t n = 0;
  Precision precision = Precision::fp32;
};

// Sizes: n, n / ratio, n / ratio^2, ... down to `smallest`: the last step, which costs most, is a full one. Cascade: the first precision climbs all sizes below n; each later one starts on the size where the one
// before it ended; only the last one goes on to n. Where n is the only size every precision runs on it. So `bf16, fp32` on
// sizes a < b < n gives a, b in bf16, then b, n in fp32.
std::vector<Rung> rungs(std::size_t n, std::size_t smallest, double ratio, const std::vector<Precision>& cascade);

// The first n rows of one seeded permutation of [0, total), ascending (for sequential reading). 8 bytes a row of `total`.
std::vector<std::size_t> nested_sample(std::size_t total, std::size_t n, std::uint64_t seed);

using Optima = std::vector<std::pair<std::size_t, double>>;  // (n, accepted beta), n ascending

Exponent fit_exponent(const Optima& optima);  // d log beta / d log n

// Whether the optima tell one trend: between neighbouring rungs beta falls by no more than the noise of its choice, and no two of these
// exponents are further apart than Singer's rule for one and for a great many dimensions.
bool rungs_agree(const Optima& optima);

// Where to start on a sample of next_n rows: the last optimum, carried by the exponent of the last three rungs (clamped to
// [0, 0.5]: beta cannot fall with n, and d = 0 would give 2/4), or by Singer's 2 / (d + 5) where only one is known.
double carried_beta(const Optima& optima, std::size_t next_n, double d_hat);

}  // namespace fd
