// The paper's numbers: paper_figures.json, which is part of the program. Each carries where in the paper it stands.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// A number of one experiment; a name that the file does not have is a fault of the program.
double paper_number(const std::string& experiment, const std::string& name);
std::vector<double> paper_numbers(const std::string& experiment, const std::string& name);  // of a list
std::string paper_place(const std::string& experiment, const std::string& name);            // "section 3"
// Of a Swiss roll of n points, 8.75 (n / 2e5)^(1/3): both bandwidths of the appendix lie on it.
double paper_roll_beta(std::size_t n);

// A table: its columns by name.
class PaperTable {
 public:
  PaperTable(const std::string& experiment, const std::string& name);
  std::size_t rows() const { return rows_.size(); }
  double at(std::size_t row, const std::string& column) const;
  // The row whose `column` is `value`; rows() where there is none.
  std::size_t row_of(const std::string& column, double value) const;
  // NaN where the row is rows(). The spread of a single run, 0 in the paper, is not known.
  Value value(std::size_t row, const std::string& column, const std::string& spread) const;
  const std::string& where() const { return where_; }
  // (x, y) of all rows, and y's error bars where `spread` names a column.
  std::vector<FigurePoint> points(const std::string& x, const std::string& y, const std::string& spread = {}) const;

 private:
  std::size_t column(const std::string& name) const;
  std::string where_;
  std::vector<std::string> columns_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace fd::reproduce
