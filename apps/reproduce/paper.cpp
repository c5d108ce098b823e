#include "reproduce/paper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "reproduce/paper_figures_text.hpp"

namespace fd::reproduce {
namespace {

const nlohmann::json& entry(const std::string& experiment, const std::string& name) {
  static const nlohmann::json figures = nlohmann::json::parse(paper_figures_text);
  return figures.at(experiment).at(name);
}

}  // namespace

double paper_number(const std::string& experiment, const std::string& name) {
  return entry(experiment, name).at("value").get<double>();
}

std::vector<double> paper_numbers(const std::string& experiment, const std::string& name) {
  return entry(experiment, name).at("value").get<std::vector<double>>();
}

std::string paper_place(const std::string& experiment, const std::string& name) {
  return entry(experiment, name).at("where").get<std::string>();
}

double paper_roll_beta(std::size_t n) {
  return paper_number("knn", "beta") * std::cbrt(static_cast<double>(n) / paper_number("knn", "n"));
}

PaperTable::PaperTable(const std::string& experiment, const std::string& name) {
  const nlohmann::json& table = entry(experiment, name);
  where_ = table.at("where");
  columns_ = table.at("columns").get<std::vector<std::string>>();
  rows_ = table.at("rows").get<std::vector<std::vector<double>>>();
}

std::size_t PaperTable::column(const std::string& name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) throw std::out_of_range("the paper's table has no column " + name);
  return static_cast<std::size_t>(found - columns_.begin());
}

double PaperTable::at(std::size_t row, const std::string& name) const { return rows_.at(row).at(column(name)); }

std::size_t PaperTable::row_of(const std::string& name, double value) const {
  for (std::size_t row = 0; row < rows(); ++row)
    if (at(row, name) == value) return row;
  return rows();
}

Value PaperTable::value(std::size_t row, const std::string& name, const std::string& spread) const {
  if (row >= rows()) return {};
  const double deviation = at(row, spread);
  return {at(row, name), deviation > 0 ? deviation : std::numeric_limits<double>::quiet_NaN()};
}

std::vector<FigurePoint> PaperTable::points(const std::string& x, const std::string& y, const std::string& spread) const {
  std::vector<FigurePoint> points;
  for (std::size_t row = 0; row < rows(); ++row) points.push_back({at(row, x), at(row, y), spread.empty() ? 0 : at(row, spread)});
  return points;
}

}  // namespace fd::reproduce
