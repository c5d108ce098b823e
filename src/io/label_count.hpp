// Numbers of a table of labels that may count its lines: an index, or a rank. Knows neither the model nor what follows from it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace fd {

// A number that fp64 tells from its neighbours; longer ones are words.
std::optional<double> exact_number(std::string_view cell, bool decimal_commas);

// Numbers that follow each other, by ones with at most one in two left out, or by any step with three in four; but for some at the ends that stand
// apart.
bool dense(std::vector<double> values, bool by_ones, std::size_t strays = 0);

struct Count {
  std::vector<double> values;
  bool all = false;    // cells have one, each its own; else nearly all
  bool dense = false;  // by any step
  bool plain = false;  // nothing stands before or behind them
  bool ascending() const;
  bool whole() const;
};

// The numbers of cells of which nearly each has its own, alone or within a text that all have ("img_17.png").
std::optional<Count> count_in(const std::vector<std::string_view>& cells, bool decimal_commas);

}  // namespace fd
