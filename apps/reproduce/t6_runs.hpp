// The runs of `reproduce t6`: what was measured for each N by both rules for the bandwidth, and the claims of the paper held against it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "reproduce/experiment.hpp"
#include "reproduce/paper.hpp"

namespace fd::reproduce::t6 {

constexpr std::size_t rule_count = 2;  // the paper's rule for the bandwidth, then the default

// What all runs of one size and rule gave.
struct Cell {
  std::vector<double> seconds, beta, overlap, passes;
  double peak_bytes = 0;
};

struct Size {
  std::size_t n, runs;
  Cell cells[rule_count];
};

Value summary(const Cell& cell, std::vector<double> Cell::*quantity);  // mean, or median of times

using Points = std::vector<std::pair<double, double>>;

// (N, summary) of one quantity of one rule.
Points curve(const std::vector<Size>& sizes, std::size_t rule, std::vector<double> Cell::*quantity, bool one_minus = false);
Value exponent_value(const Points& points);

// Error(misuse) for sizes that are too small.
void check(const Setup& setup);

// What is to be run, ascending in N, and not yet was.
std::vector<Size> planned(const Setup& setup);

// The same, run. Fits that did not converge are noted in `result`.
std::vector<Size> measure(const Setup& setup, Result& result);

// Every claim of section 3.
void compare(const std::vector<Size>& sizes, const PaperTable& ladder, const PaperTable& one, const PaperTable& four,
             Result& result);

}  // namespace fd::reproduce::t6
