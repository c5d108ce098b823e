#include "reproduce/text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace fd::reproduce {
namespace {

constexpr std::size_t page_width = 130;

// Columns on a terminal: code points that are not combining marks (U+0300 to U+036F).
std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xC0U) == 0x80U, combining = byte == 0xCC || byte == 0xCD;
    if (!continues && !combining) ++width;
  }
  return width;
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return left ? text + space : space + text;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string paragraph(const std::string& text, std::size_t indent) {
  std::string out;
  for (const std::string& line : wrapped(text, page_width - indent)) out += std::string(indent, ' ') + line + "\n";
  return out;
}

// Heads are broken into words, so that a long one does not widen its column; cells too, where `most` says how wide each column may be.
std::string table_text(const ResultTable& table, const std::vector<std::size_t>& most = {}) {
  using Cell = std::vector<std::string>;  // lines
  std::vector<Cell> heads;
  std::vector<std::vector<Cell>> rows;
  for (const ResultColumn& column : table.columns)
    heads.push_back(wrapped(column.unit.empty() ? column.name : column.name + " [" + column.unit + "]", 14));
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c)
      rows.back().push_back(most.empty() ? Cell{value_text(row[c])} : wrapped(value_text(row[c]), most[c]));
  }
  std::vector<std::size_t> widths(heads.size());
  const auto widen = [&](const std::vector<Cell>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (const std::string& line : cells[c]) widths[c] = std::max(widths[c], width_of(line));
  };
  widen(heads);
  for (const auto& row : rows) widen(row);
  std::string out;
  const auto add = [&](const std::vector<Cell>& cells, bool from_below) {
    std::size_t tall = 1;
    for (const Cell& cell : cells) tall = std::max(tall, cell.size());
    for (std::size_t k = 0; k < tall; ++k) {
      std::string line;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::size_t above = from_below ? tall - cells[c].size() : 0;
        const bool here = k >= above && k - above < cells[c].size();
        line += (c > 0 ? "  " : "") + padded(here ? cells[c][k - above] : std::string(), widths[c], table.columns[c].words);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  };
  add(heads, true);
  for (const auto& row : rows) add(row, false);
  return out;
}

std::string comparisons_text(const std::vector<Comparison>& comparisons) {
  ResultTable table{
      "comparisons",
      {},
      {{"verdict", {}, true}, {"claim", {}, true}, {"paper"}, {"ours"}, {"agrees where", {}, true}, {"in the paper", {}, true}},
      {}};
  std::vector<std::pair<std::string, std::string>> reasons;  // claims, and why: one reason may serve many
  for (const Comparison& c : comparisons) {
    table.rows.push_back({name(c.verdict), c.claim, c.paper, c.ours, c.rule.empty() ? Value("-") : Value(c.rule), c.where});
    if (c.why.empty()) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.second == c.why; });
    if (known == reasons.end()) reasons.emplace_back(c.claim, c.why);
    else known->first += "; " + c.claim;
  }
  std::string said;
  for (const auto& [claims, why] : reasons) said += paragraph(fmt::format("{}: {}.", claims, why), 2);
  return table_text(table, {12, 36, 17, 18, 20, 17}) + (said.empty() ? "" : "\nWhat differs or was not measured:\n" + said);
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return "-";
  const double size = std::abs(number);
  if (size < 1e9 && (size >= 1e4 || number == std::floor(number))) return fmt::format("{:.0f}", number);
  std::string text = fmt::format("{:.4g}", number);
  const auto power = text.find("e-0");
  return power == std::string::npos ? text : text.erase(power + 2, 1);
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::agrees: return "agrees";
    case Verdict::differs: return "differs";
    case Verdict::unmeasured: break;
  }
  return "not measured";
}

std::string value_text(const Value& value) {
  if (!value.words.empty()) return value.words;
  if (!(value.spread > 0) || !std::isfinite(value.number)) return number_text(value.number);
  // two digits of the spread, and the number to the same place
  const double size = std::max(std::abs(value.number), value.spread);
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.3g} ± {:.2g}", value.number, value.spread);
  const int places = std::clamp(1 - static_cast<int>(std::floor(std::log10(value.spread))), 0, 6);
  return fmt::format("{:.{}f} ± {:.{}f}", value.number, places, value.spread, places);
}

std::string result_text(const Result& result) {
  std::string out = result.title + "\n\n" + paragraph(result.answer, 0) + "\n";
  for (const ResultTable& table : result.tables) out += paragraph(table.caption, 0) + table_text(table) + "\n";
  if (!result.comparisons.empty()) out += comparisons_text(result.comparisons);
  for (const std::string& note : result.notes) out += "\n" + paragraph(note, 0);
  return out;
}

}  // namespace fd::reproduce
