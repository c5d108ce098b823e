#include "reproduce/t6_runs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "analysis/subspace_overlap.hpp"
#include "base/power_law.hpp"
#include "common/interrupt.hpp"
#include "common/made_points.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce::t6 {
namespace {

constexpr std::size_t columns = 32, modes = 3, target = 5;  // target: the largest circle, whose harmonics come first

// The paper's number of runs: 64 for N = 2^10, falling geometrically to 1 for 2^22.
std::size_t paper_runs(std::size_t n) {
  const double exact = std::pow(64.0, (22 - std::log2(static_cast<double>(n))) / 12);
  return static_cast<std::size_t>(std::clamp(std::ceil(exact - 1e-9), 1.0, 64.0));
}

// The score of the paper's footnote: the two leading modes against (cos, sin) of the largest circle's angle.
double overlap(const Model& model, std::uint64_t seed) {
  return subspace_overlap(
      model.n, {2, [&](std::size_t row, double* values) { values[0] = model.psi(row, 0), values[1] = model.psi(row, 1); }},
      {2, [&](std::size_t row, double* values) {
         cli::throw_if_interrupted();
         const double angle = cli::torus_angle(row, target, seed);
         values[0] = std::cos(angle), values[1] = std::sin(angle);
       }});
}

struct Rule {
  const char* name;
  Select select;
};
constexpr Rule rules[rule_count] = {{"paper", Select::paper}, {"default", Select::robust}};

void run_once(const Setup& setup, Size& size, std::uint64_t seed, Result& result) {
  const Table points = cli::padded_torus(size.n, columns, seed);
  for (std::size_t r = 0; r < rule_count; ++r) {
    Options options = setup.options();
    options.modes = modes;
    options.select = rules[r].select;
    options.keep_points = false;
    const Model model = fit(points.view(), options);
    if (!model.converged) result.fault(fmt::format("N = {}, seed {}, {} rule: {}", size.n, seed, rules[r].name, model.outcome));
    Cell& cell = size.cells[r];
    cell.seconds.push_back(model.seconds);
    cell.beta.push_back(model.beta);
    cell.overlap.push_back(overlap(model, seed));
    cell.passes.push_back(static_cast<double>(model.passes));
    cell.peak_bytes = std::max(cell.peak_bytes, static_cast<double>(model.peak_rss_bytes));
  }
}

}  // namespace

Value summary(const Cell& cell, std::vector<double> Cell::*quantity) {
  return quantity == &Cell::seconds ? median_of(cell.*quantity) : mean_of(cell.*quantity);
}

Value exponent_value(const Points& points) {
  const Exponent exponent = power_law(points);
  return {exponent.value, exponent.uncertainty};
}

Points curve(const std::vector<Size>& sizes, std::size_t rule, std::vector<double> Cell::*quantity, bool one_minus) {
  Points points;
  for (const Size& size : sizes) {
    const double mean = summary(size.cells[rule], quantity).number;
    points.emplace_back(static_cast<double>(size.n), one_minus ? 1 - mean : mean);
  }
  return points;
}

void check(const Setup& setup) {
  for (const std::size_t n : setup.sizes)
    if (n < 64)
      throw Error(Failure::misuse, fmt::format("--n {}: too few points for a torus of six dimensions", n), "give 64 or more");
}

std::vector<Size> planned(const Setup& setup) {
  std::vector<std::size_t> sizes = setup.sizes;
  if (sizes.empty())
    sizes = setup.quick ? std::vector<std::size_t>{1024, 2048, 4096} : std::vector<std::size_t>{1024, 2048, 4096, 8192, 16384};
  std::vector<Size> blank;
  for (const std::size_t n : sizes)
    blank.push_back({n,
                     setup.seeds > 0 ? setup.seeds
                     : setup.quick   ? std::max<std::size_t>(3, paper_runs(n) / 8)
                                     : paper_runs(n),
                     {}});
  return blank;
}

std::vector<Size> measure(const Setup& setup, Result& result) {
  std::vector<Size> sizes = planned(setup);
  for (Size& size : sizes)
    for (std::size_t run = 0; run < size.runs; ++run) {
      setup.begin(fmt::format("t6, N = {}, run {} of {}", size.n, run + 1, size.runs));
      run_once(setup, size, 42 + run, result);
    }
  return sizes;
}

}  // namespace fd::reproduce::t6
