#include "report/columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace fd {
namespace {

constexpr std::size_t most_words = Column::other, most_word_bytes = std::size_t{1} << 20;
constexpr unsigned most_decimals = 9;
constexpr std::size_t most_clusters = 20;

template <class Whole>
std::string encode(const std::vector<Whole>& numbers) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t bytes = numbers.size() * sizeof(Whole);
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < bytes ? static_cast<std::uint32_t>(numbers[i / sizeof(Whole)] >> 8 * (i % sizeof(Whole)) & 255u) : 0u;
  };
  std::string text;
  text.reserve((bytes + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes; i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (const int shift : {18, 12, 6, 0}) text += digits[group >> shift & 63];
  }
  for (std::size_t i = 0; i < (3 - bytes % 3) % 3; ++i) text[text.size() - 1 - i] = '=';
  return text;
}

// The values as whole numbers of units of 10^-decimals, where they are that: dividing by 10^decimals then gives the values back, bit by bit,
// as reading their text did. NaN stays. Empty where they are not.
std::vector<double> in_units(const std::vector<double>& values, unsigned decimals) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  const double unit = std::pow(10.0, decimals);
  std::vector<double> whole;
  whole.reserve(values.size());
  for (const double x : values) {
    const double count = std::isnan(x) ? x : std::round(x * unit);
    if (!std::isnan(x) && !(std::abs(count) < exact && count / unit == x)) return {};
    whole.push_back(count);
  }
  return whole;
}

template <class Code>
std::vector<Code> codes_from(const std::vector<double>& whole, double low) {
  std::vector<Code> codes;
  codes.reserve(whole.size());
  for (const double x : whole) codes.push_back(std::isnan(x) ? std::numeric_limits<Code>::max() : static_cast<Code>(x - low));
  return codes;
}

bool keep_decimals(const std::vector<double>& values, Column& column) {
  for (unsigned decimals = 0; decimals <= most_decimals; ++decimals) {
    const std::vector<double> whole = in_units(values, decimals);
    if (whole.empty()) continue;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double x : whole)
      if (!std::isnan(x)) low = std::min(low, x), high = std::max(high, x);
    if (low > high) low = high = 0;  // nothing but NaN
    if (high - low >= std::numeric_limits<std::uint32_t>::max()) return false;
    column.form = "decimal";
    column.low = low;
    column.decimals = decimals;
    if (high - low < std::numeric_limits<std::uint16_t>::max()) column.codes = codes_from<std::uint16_t>(whole, low);
    else column.wide = codes_from<std::uint32_t>(whole, low);
    return true;
  }
  return false;
}

}  // namespace

Column number_column(std::string name, std::string kind, const std::vector<std::size_t>& rows,
                     const std::function<double(std::size_t)>& value) {
  Column column;
  column.name = std::move(name);
  column.kind = std::move(kind);
  column.form = "steps";
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::size_t row : rows)
    if (const double x = value(row); std::isfinite(x)) {
      low = std::min(low, x);
      high = std::max(high, x);
    }
  if (low <= high) {
    column.low = low;
    column.step = (high / 2 - low / 2) / ((Column::other - 1) / 2.0);  // halves: the range itself may be too large for a double
  }
  column.codes.reserve(rows.size());
  for (const std::size_t row : rows) {
    const double x = value(row);
    if (!std::isfinite(x)) column.codes.push_back(Column::missing);
    else if (column.step > 0)  // halves again; next to the ends rounding must not leave the range
      column.codes.push_back(
          static_cast<std::uint16_t>(std::clamp(std::round((x / 2 - low / 2) / column.step * 2), 0.0, Column::other - 1.0)));
    else column.codes.push_back(0);
  }
  return column;
}

Column exact_column(const Labels& labels, const std::vector<std::size_t>& rows) {
  Column column;
  column.name = labels.name;
  column.kind = "number";
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::size_t row : rows) values.push_back(labels.numbers[row]);
  if (keep_decimals(values, column)) return column;
  column.form = "float";
  const bool single = std::all_of(values.begin(), values.end(), [](double x) {
    return !std::isfinite(x) || (std::abs(x) <= std::numeric_limits<float>::max() && static_cast<float>(x) == x);
  });
  for (const double x : values)
    if (single) column.wide.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
    else column.widest.push_back(std::bit_cast<std::uint64_t>(x));
  return column;
}

Column word_column(const Labels& labels, const std::vector<std::size_t>& rows) {
  Column column;
  column.name = labels.name;
  column.kind = "word";
  column.form = "words";
  std::unordered_map<std::string, std::size_t> counts;
  for (const std::size_t row : rows)
    if (!labels.words[row].empty()) ++counts[labels.words[row]];
  std::vector<std::pair<std::string, std::size_t>> ordered(counts.begin(), counts.end());
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::unordered_map<std::string, std::uint16_t> places;
  std::size_t bytes = 0;
  for (const auto& [word, count] : ordered) {
    bytes += word.size();
    if (column.words.size() == most_words || bytes > most_word_bytes) break;
    places[word] = static_cast<std::uint16_t>(column.words.size());
    column.words.push_back(word);
  }
  column.codes.reserve(rows.size());
  for (const std::size_t row : rows) {
    const std::string& word = labels.words[row];
    const auto place = places.find(word);
    column.codes.push_back(word.empty() ? Column::missing : place == places.end() ? Column::other : place->second);
  }
  return column;
}

Column label_column(const Labels& labels, const std::vector<std::size_t>& rows) {
  if (!labels.words.empty()) return word_column(labels, rows);
  std::set<double> kinds;
  for (const double x : labels.numbers) {
    if (std::isnan(x)) continue;
    if (x != std::round(x) || std::isinf(x) || (kinds.insert(x + 0.0).second && kinds.size() > most_clusters))
      return exact_column(labels, rows);
  }
  if (kinds.empty()) return exact_column(labels, rows);
  Labels clusters{labels.name, {}, {}};
  const auto text = [](double x) { return std::abs(x) < 1e21 ? fmt::format("{:.0f}", x + 0.0) : fmt::format("{}", x); };
  for (const double x : labels.numbers) clusters.words.push_back(std::isnan(x) ? std::string() : text(x));
  return word_column(clusters, rows);
}

std::string base64(const std::vector<std::uint16_t>& codes) { return encode(codes); }
std::string base64(const std::vector<std::uint32_t>& numbers) { return encode(numbers); }
std::string base64(const Column& column) {
  return !column.codes.empty() ? encode(column.codes) : !column.wide.empty() ? encode(column.wide) : encode(column.widest);
}

}  // namespace fd
