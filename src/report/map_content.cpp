#include "report/map_content.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/sample.hpp"

namespace fd {
namespace {

constexpr double room = 5.4e6;          // bytes of the 6 MB; D3, the script and the figures have the rest
constexpr std::size_t most_modes = 64;  // beyond, nobody looks
constexpr double head_bytes = 220;      // what a column takes beside its name, words and numbers
constexpr double room_for_heads = room / 3;
constexpr std::size_t modes_before_names = 8, fewest_modes = 4;
constexpr std::uint64_t sample_seed = 42;
constexpr const char* reason = "to keep the page below 6 MB";

// A text in the page's document: quotes, a comma, and what has to be escaped.
double text_bytes(const std::string& text) {
  double bytes = 3;
  for (const char c : text) bytes += c == '<' || static_cast<unsigned char>(c) < 32 ? 6 : c == '"' || c == '\\' ? 2 : 1;
  return bytes;
}

double data_bytes(std::size_t rows, std::size_t bytes_a_row) { return static_cast<double>((rows * bytes_a_row + 2) / 3 * 4); }

double bytes_of(const Column& column) {
  double bytes = data_bytes(column.rows(), column.bytes_a_row());
  for (const std::string& word : column.words) bytes += text_bytes(word);
  return bytes;
}

// With its longest word, which a map of a single row may still show.
double bytes_of_head(const Labels& label) {
  double longest = 0;
  for (const std::string& word : label.words) longest = std::max(longest, text_bytes(word));
  return head_bytes + text_bytes(label.name) + longest;
}

// Thousands of columns would leave no room for rows.
std::size_t labels_with_room(const std::vector<Labels>& labels) {
  double bytes = 0;
  std::size_t count = 0;
  while (count < labels.size() && (bytes += bytes_of_head(labels[count])) <= room_for_heads) ++count;
  return count;
}

std::vector<Column> label_columns(std::span<const Labels> labels, const std::vector<std::size_t>& rows) {
  std::vector<Column> columns;
  for (const Labels& label : labels) columns.push_back(label_column(label, rows));
  return columns;
}

std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

}  // namespace

MapContent map_content(const Model& model, const std::vector<Labels>& all_labels, std::size_t most) {
  MapContent content;
  const std::span<const Labels> labels(all_labels.data(), labels_with_room(all_labels));
  double heads = 0;
  for (const Labels& label : labels) heads += bytes_of_head(label);
  if (labels.size() < all_labels.size())
    content.limits.push_back(
        fmt::format("Of {} columns of labels the page holds the first {}, {}.", all_labels.size(), labels.size(), reason));
  std::vector<Column> given;
  std::size_t shown = std::min(model.n, most);
  double left = 0, mode = 0;  // bytes: beside the labels, and of a mode
  const std::size_t wanted = std::min(model.modes(), most_modes), fewest = std::min(wanted, fewest_modes);
  for (;;) {
    content.rows = sampled_rows(model.n, shown, sample_seed);
    given = label_columns(labels, content.rows);
    mode = data_bytes(shown, 2);
    left = room - heads - mode - (shown < model.n ? data_bytes(shown, 4) : 0);  // without the density and the numbers of the rows
    for (const Column& column : given) left -= bytes_of(column);
    if (left >= static_cast<double>(fewest) * mode || shown == 1) break;
    const double share = room / (room - left + static_cast<double>(fewest) * mode);
    shown = std::max<std::size_t>(1, std::min(shown - 1, static_cast<std::size_t>(0.98 * share * static_cast<double>(shown))));
  }
  if (shown < model.n)
    content.limits.push_back(
        fmt::format("The map shows a random sample of {} of the {} rows{}; every other figure is of all rows.", shown, model.n,
                    shown < most ? fmt::format(", {}", reason) : ""));

  double names = 0;
  if (!model.names.empty())
    for (const std::size_t row : content.rows) names += text_bytes(model.names[row]);
  content.names = !model.names.empty() && names + static_cast<double>(std::min(wanted, modes_before_names)) * mode <= left;
  if (content.names) left -= names;
  else if (!model.names.empty())
    content.limits.push_back(
        fmt::format("The names of the rows, {}, are left out of the map and of what is saved from it, {}: rows "
                    "go by their numbers, from 1.",
                    megabytes(names), reason));
  const std::size_t modes = std::min(wanted, std::max(fewest, static_cast<std::size_t>(std::max(0.0, left / mode))));
  if (modes < model.modes())
    content.limits.push_back(fmt::format("The map offers the first {} of {} modes{}.", modes, model.modes(),
                                         modes < wanted ? fmt::format(", {}", reason) : ""));
  for (const Column& column : given)
    if (const auto others = static_cast<std::size_t>(std::count(column.codes.begin(), column.codes.end(), Column::other));
        column.kind == "word" && others > 0)
      content.limits.push_back(
          fmt::format("Of \"{}\" the page holds the {} most frequent words, {}; the others, of {}, are \"(other)\".", column.name,
                      column.words.size(), reason, counted(others, "row")));

  for (std::size_t j = 0; j < modes; ++j)
    content.columns.push_back(
        number_column(fmt::format("mode {}", j + 1), "mode", content.rows, [&](std::size_t row) { return model.psi(row, j); }));
  content.columns.push_back(
      number_column("log density", "density", content.rows, [&](std::size_t row) { return std::log10(model.q[row]); }));
  for (Column& column : given) content.columns.push_back(std::move(column));
  return content;
}

}  // namespace fd
