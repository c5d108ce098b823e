// One random fit as plain data: a small table of some odd kind and options drawn against each other, a pure function of (seed, number).
// Knows what a user could ask for, and nothing of what the library makes of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/options.hpp>

#include "support/structured_tables.hpp"

namespace fd::test {

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t number) : random_(seed, number) {}

  double uniform() { return random_.uniform(next_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double logarithmic(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  bool chance(double probability) { return uniform() < probability; }
  // in [low, high]
  std::size_t integer(std::size_t low, std::size_t high) {
    return low + std::min(high - low, static_cast<std::size_t>(uniform() * static_cast<double>(high - low + 1)));
  }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[integer(0, choices.size() - 1)];
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

struct Recipe {
  std::string_view kind;
  std::size_t rows, dimension;
  std::uint64_t table_seed;
  Options options;

  Dataset table() const { return make_table(kind, rows, dimension, table_seed); }
};

// Edges as often as the middle: k next to the block, the basis and N - 1; N next to whole panels of 48 rows. One table in fifty is large
// enough for a ladder, whose modes warm the next rung's solve.
inline Recipe draw_recipe(std::uint64_t seed, std::uint64_t number) {
  Draw draw(seed, number);
  Recipe recipe;
  const auto kinds = table_kinds();
  recipe.kind = kinds[draw.integer(0, kinds.size() - 1)].name;
  recipe.rows = draw.chance(0.3) ? draw.one_of<std::size_t>({3, 4, 5, 16, 17, 47, 48, 49, 95, 96, 97, 128, 193})
                                 : static_cast<std::size_t>(draw.logarithmic(3, 400.99));
  recipe.dimension = draw.chance(0.2) ? draw.one_of<std::size_t>({1, 2, 3}) : draw.integer(1, 40);
  const bool climbs = draw.chance(0.02);
  if (climbs) {
    recipe.rows = draw.integer(4096, 4500);
    recipe.dimension = draw.integer(1, 4);
  }
  recipe.table_seed = draw.integer(1, 1000000);

  Options& options = recipe.options;
  const std::size_t most = climbs ? 24 : recipe.rows - 1, widest = climbs ? 64 : recipe.rows;
  options.block = draw.chance(0.5) ? 0 : draw.one_of<std::size_t>({1, 2, 4, 5, 8, 16, 33, 64, draw.integer(1, widest)});
  if (draw.chance(0.95)) options.block = std::min(options.block, recipe.rows);
  const std::size_t block = options.block > 0 ? options.block : 16;
  options.modes =
      std::clamp<std::size_t>(draw.one_of<std::size_t>({1, 2, 3, 16, most, most - 1, most / 2, block - 1, block, block + 1, 32,
                                                        48, draw.integer(1, most), draw.integer(1, most)}),
                              1, most);
  const std::size_t k = options.modes;
  options.basis =
      draw.chance(0.5)
          ? 0
          : draw.one_of<std::size_t>({1, k - 1, k, k + 1, k + block, k + 3 * block, most, widest, draw.integer(1, 2 * widest)});
  options.max_passes = draw.chance(0.7) ? 0 : draw.one_of<std::size_t>({1, 2, 3, draw.integer(1, 40)});
  options.tolerance = draw.chance(0.4) ? 1e-5 : draw.logarithmic(1e-12, 1e-1);
  options.alpha = draw.chance(0.7) ? draw.one_of<double>({0, 0.5, 1}) : draw.uniform();

  const std::vector<Precision> precisions = {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16};
  options.precision = {draw.one_of(precisions)};
  while (options.precision.size() < 3 && draw.chance(0.3)) options.precision.push_back(draw.one_of(precisions));

  const double scale = variance_beta(recipe.table());
  if (!climbs && draw.chance(0.6)) {
    options.beta = scale * draw.logarithmic(1e-4, 1e6);
  } else {
    options.select = draw.one_of<Select>({Select::robust, Select::minimum, Select::paper, Select::continuation});
    if (draw.chance(0.2)) options.beta0 = scale * draw.logarithmic(1e-2, 1e3);
    if (draw.chance(0.2)) options.beta0_cap.reset();
    if (draw.chance(0.2)) options.beta_max = scale * draw.logarithmic(1e-1, 1e4);
    options.ladder = climbs || draw.chance(0.5);
  }
  if (draw.chance(0.25)) options.components = draw.one_of<std::size_t>({1, 2, 3, k});
  if (options.components && draw.chance(0.95)) options.components = std::min(*options.components, k);
  if (draw.chance(0.15)) options.trim = draw.between(0, 0.3);
  else if (draw.chance(0.3)) options.trim = 0;
  options.threads = draw.one_of<int>({1, 2, 3, 7});
  if (!draw.chance(0.8)) options.memory_bytes = draw.one_of<std::size_t>({0, 1 << 20, 1 << 24, 1 << 27});
  // the naive back-end, but where it would take minutes
  options.backend = draw.chance(0.9) || climbs || k > 64 ? "auto" : "reference";
  options.keep_points = draw.chance(0.8);
  options.seed = draw.integer(1, 1000);
  return recipe;
}

inline std::string describe(const Recipe& recipe) {
  const Options& o = recipe.options;
  std::vector<std::string_view> precision;
  for (const Precision p : o.precision) precision.push_back(traits(p).name);
  constexpr std::string_view selects[] = {"robust", "minimum", "paper", "continuation"};
  std::string text = fmt::format(
      "{} {} x {} (table seed {}), k {}, {}, alpha {:.17g}, precision {}, tolerance {:.3g}, backend {}, threads {}", recipe.kind,
      recipe.rows, recipe.dimension, recipe.table_seed, o.modes,
      o.beta ? fmt::format("beta {:.17g}", *o.beta) : fmt::format("select {}", selects[static_cast<std::size_t>(o.select)]),
      o.alpha, fmt::join(precision, ","), o.tolerance, o.backend, o.threads);
  const auto add = [&](bool wished, std::string_view name, auto value) {
    if (wished) text += fmt::format(", {} {}", name, value);
  };
  add(o.block > 0, "block", o.block);
  add(o.basis > 0, "basis", o.basis);
  add(o.max_passes > 0, "max_passes", o.max_passes);
  add(o.components.has_value(), "components", o.components.value_or(0));
  add(o.trim.has_value(), "trim", o.trim.value_or(0));
  add(o.memory_bytes.has_value(), "memory_bytes", o.memory_bytes.value_or(0));
  add(o.beta0.has_value(), "beta0", o.beta0.value_or(0));
  add(!o.beta0_cap.has_value(), "beta0_cap", "none");
  add(o.beta_max.has_value(), "beta_max", o.beta_max.value_or(0));
  add(!o.ladder, "ladder", "no");
  add(!o.keep_points, "keep_points", "no");
  add(true, "seed", o.seed);
  return text;
}

}  // namespace fd::test
