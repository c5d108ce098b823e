#include "reproduce/document.hpp"

#include <cmath>

#include "reproduce/text.hpp"

namespace fd::reproduce {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json value_json(const Value& value) {
  if (!value.words.empty()) return value.words;
  if (std::isfinite(value.number) && std::isfinite(value.spread)) return {{"value", value.number}, {"spread", value.spread}};
  return number(value.number);
}

Json comparison_json(const Comparison& c) {
  return {{"claim", c.claim},
          {"where", c.where},
          {"paper", value_json(c.paper)},
          {"ours", value_json(c.ours)},
          {"rule", c.rule},
          {"verdict", name(c.verdict)},
          {"why", c.why}};
}

Json comparisons_json(const std::vector<Comparison>& comparisons) {
  Json json = Json::array();
  for (const Comparison& comparison : comparisons) json.push_back(comparison_json(comparison));
  return json;
}

Json table_json(const ResultTable& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const ResultColumn& column : table.columns)
    columns.push_back({{"name", column.name}, {"unit", column.unit}, {"words", column.words}});
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Value& value : row) cells.push_back(value_json(value));
    rows.push_back(cells);
  }
  return {{"name", table.name}, {"caption", table.caption}, {"columns", columns}, {"rows", rows}};
}

Json axis_json(const Axis& axis) {
  return {{"label", axis.label}, {"logarithmic", axis.logarithmic}, {"low", number(axis.low)}, {"high", number(axis.high)}};
}

Json series_json(const Series& series) {
  constexpr const char* sources[] = {"paper", "ours", "guide", "reference"};
  Json points = Json::array();
  for (const FigurePoint& p : series.points) {
    Json point = {number(p.x), number(p.y), number(p.error)};
    if (std::isfinite(p.shade)) point.push_back(p.shade);
    points.push_back(point);
  }
  return {{"name", series.name},
          {"source", sources[static_cast<int>(series.source)]},
          {"line", series.line},
          {"marks", series.marks},
          {"colour", series.colour == Series::next_colour ? Json(nullptr) : Json(series.colour)},
          {"dashed", series.dashed},
          {"points", points}};
}

Json figure_json(const Figure& figure) {
  Json series = Json::array(), marks = Json::array();
  for (const Series& one : figure.series) series.push_back(series_json(one));
  for (const VerticalMark& mark : figure.marks) marks.push_back({{"x", mark.x}, {"text", mark.text}});
  Json json = {{"name", figure.name},
               {"title", figure.title},
               {"caption", figure.caption},
               {"wide", figure.wide},
               {"x", axis_json(figure.x)},
               {"y", axis_json(figure.y)},
               {"series", series},
               {"marks", marks},
               {"shade", {{"label", figure.shade.label}, {"low", figure.shade.low}, {"high", figure.shade.high}}}};
  if (!figure.heat.values.empty()) {
    Json values = Json::array();
    for (const double value : figure.heat.values) values.push_back(number(value));
    json["heat"] = {{"across", figure.heat.across}, {"up", figure.heat.up}, {"values", values}};
  }
  return json;
}

}  // namespace

Json document_of(const LeftOut& left_out) {
  return {{"experiment", left_out.name}, {"reason", left_out.reason}, {"comparisons", comparisons_json(left_out.claims)}};
}

Json document_of(const Result& result) {
  Json tables = Json::array(), figures = Json::array();
  for (const ResultTable& table : result.tables) tables.push_back(table_json(table));
  for (const Figure& figure : result.figures) figures.push_back(figure_json(figure));
  return {{"experiment", result.name},
          {"title", result.title},
          {"answer", result.answer},
          {"converged", result.converged()},
          {"comparisons", comparisons_json(result.comparisons)},
          {"tables", tables},
          {"figures", figures},
          {"notes", result.notes}};
}

}  // namespace fd::reproduce
