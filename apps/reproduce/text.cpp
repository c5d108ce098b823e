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

// Heads are broken into words, so that a long one does not widen its column.
std::string table_text(const ResultTable& table) {
  std::vector<std::vector<std::string>> heads, cells;
  std::vector<std::size_t> widths;
  std::size_t tall = 1;
  for (const ResultColumn& column : table.columns) {
    heads.push_back(wrapped(column.unit.empty() ? column.name : column.name + " [" + column.unit + "]", 14));
    tall = std::max(tall, heads.back().size());
    std::size_t width = 0;
    for (const std::string& line : heads.back()) width = std::max(width, width_of(line));
    widths.push_back(width);
  }
  for (const auto& row : table.rows) {
    cells.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      cells.back().push_back(value_text(row[c]));
      widths[c] = std::max(widths[c], width_of(cells.back().back()));
    }
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c)
      line += (c > 0 ? "  " : "") + padded(cell(c), widths[c], table.columns[c].words);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  for (std::size_t line = 0; line < tall; ++line)
    add_line([&](std::size_t c) {
      const std::size_t empty = tall - heads[c].size();
      return line < empty ? std::string() : heads[c][line - empty];
    });
  for (const auto& row : cells) add_line([&](std::size_t c) { return row[c]; });
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
  return table_text(table) + (said.empty() ? "" : "\nWhat differs or was not measured:\n" + said);
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return "-";
  if (number == std::floor(number) && std::abs(number) < 1e9) return fmt::format("{:.0f}", number);
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
