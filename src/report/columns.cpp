#include "report/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace fd {
namespace {

constexpr std::size_t most_words = 20000, most_word_bytes = std::size_t{1} << 20;

template <class Whole>
std::string encode(const std::vector<Whole>& numbers) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t bytes = numbers.size() * sizeof(Whole);
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < bytes ? (numbers[i / sizeof(Whole)] >> 8 * (i % sizeof(Whole))) & 255u : 0u;
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

}  // namespace

Column number_column(std::string name, std::string kind, const std::vector<std::size_t>& rows,
                     const std::function<double(std::size_t)>& value) {
  Column column;
  column.name = std::move(name);
  column.kind = std::move(kind);
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
    else if (column.step > 0)
      column.codes.push_back(static_cast<std::uint16_t>(std::lround(x / column.step - low / column.step)));
    else column.codes.push_back(0);
  }
  return column;
}

Column word_column(const Labels& labels, const std::vector<std::size_t>& rows) {
  Column column;
  column.name = labels.name;
  column.kind = "word";
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

std::string base64(const std::vector<std::uint16_t>& codes) { return encode(codes); }
std::string base64(const std::vector<std::uint32_t>& numbers) { return encode(numbers); }

}  // namespace fd
