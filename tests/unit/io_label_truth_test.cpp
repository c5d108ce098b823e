// Label files of known truth, thousands of them, for models whose rows are named in every way: whatever is taken reaches its own rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/labels.hpp"
#include "io_fixture.hpp"

namespace fd {
namespace {

using Words = std::vector<std::string>;

struct Chance {
  std::mt19937 engine{17};
  std::size_t below(std::size_t n) { return engine() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& some) {
    return some[below(some.size())];
  }
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) std::swap(all[i - 1], all[below(i)]);
    return all;
  }
};

// A table, the rows of it that were fitted, and what they are called.
struct FittedRows {
  std::string kind;
  std::vector<std::size_t> kept;
  Words all_names, names;  // of the table, or none; of the rows
  bool left_out = false;
};

FittedRows made_model(Chance& chance) {
  FittedRows model;
  model.kind = chance.of<std::string>(
      {"bare", "from 0", "from 1", "words", "ids", "shuffled", "kinds", "twice", "subset", "dropped", "named and dropped"});
  const std::size_t rows = 10 + chance.below(30);
  const auto shuffled = chance.permutation(rows);
  std::vector<std::size_t> ids(rows);
  for (std::size_t row = 0; row < rows; ++row) ids[row] = 1000 * chance.below(100000) + row;
  const bool some = model.kind == "subset" || model.kind == "dropped" || model.kind == "named and dropped";
  model.left_out = some && model.kind != "subset";
  const std::size_t lost = chance.below(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string name = std::to_string(row);
    if (model.kind == "words" || model.kind == "named and dropped")
      name = "cell" + std::string(1, static_cast<char>('A' + shuffled[row] % 26)) + std::to_string(shuffled[row]);
    else if (model.kind == "ids") name = std::to_string(ids[row]);
    else if (model.kind == "shuffled") name = std::to_string(shuffled[row]);
    else if (model.kind == "kinds") name = chance.of<std::string>({"setosa", "virginica", "versicolor"});
    else if (model.kind == "from 1") name = std::to_string(row + 1);
    if (model.kind == "twice") name = "b" + std::to_string(ids[row == 3 ? 7 : row]) + "q";
    model.all_names.push_back(name);
    if (some && (row == lost || (model.kind == "subset" && chance.one_in(3)))) continue;
    model.kept.push_back(row);
    if (model.kind != "bare") model.names.push_back(model.kind == "dropped" ? "row " + std::to_string(row + 1) : name);
  }
  if (model.kind == "bare" || model.kind == "dropped") model.all_names.clear();
  return model;
}

struct File {
  std::string text, story;
  Words truth;               // of the model's rows
  bool plain = false;        // must be taken
  bool cannot_tell = false;  // rows of one name changed places
};

File made_file(Chance& chance, const FittedRows& model) {
  const std::size_t all = model.kept.empty() ? 0 : std::max(model.kept.back() + 1, model.all_names.size());
  Words label(std::max(all, model.kept.back() + 2));
  for (std::string& word : label) word = chance.of<std::string>({"alpha", "beta", "gamma", "delta", ""});
  if (chance.one_in(4)) label[0] = label[model.kept[0]] = "rare";
  File file;
  for (const std::size_t row : model.kept) file.truth.push_back(label[row]);

  // what the lines are called, which there are, and in which order: what a file cannot tell is not asked
  const std::string by = chance.of<std::string>(
      {"nothing", "names", "names", "names", "index 0", "index 1", "index 7", "img_", "place 0", "place 1"});
  const bool told = by != "nothing" && by.substr(0, 5) != "place" && (by != "names" || !model.all_names.empty());
  const bool whole = model.kept.size() < all && chance.one_in(2);
  std::vector<std::size_t> rows = model.kept;
  if (whole) rows = chance.permutation(all), std::sort(rows.begin(), rows.end());
  std::string order = "in order", lines = "all";
  if (told) {
    order = chance.of<std::string>({"in order", "in order", "shuffled", "reversed", "by label", "swapped", "turned"});
    lines = chance.of<std::string>({"all", "all", "all", "one twice for another", "one more"});
  }
  if (lines == "one twice for another") rows[chance.below(rows.size())] = rows[chance.below(rows.size())];
  constexpr std::size_t foreign = 1000000;
  if (lines == "one more") rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(chance.below(rows.size() + 1)), foreign);
  const auto label_of = [&](std::size_t row) { return row == foreign ? std::string("alpha") : label[row]; };
  if (order == "shuffled") {
    const auto turn = chance.permutation(rows.size());
    std::vector<std::size_t> turned;
    for (const std::size_t i : turn) turned.push_back(rows[i]);
    rows = turned;
  } else if (order == "reversed") {
    std::reverse(rows.begin(), rows.end());
  } else if (order == "by label") {
    std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return label_of(a) < label_of(b); });
  } else if (order == "swapped") {
    std::swap(rows[chance.below(rows.size())], rows[chance.below(rows.size())]);
  } else if (order == "turned") {
    std::rotate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(chance.below(rows.size())), rows.end());
  }
  const auto called = [&](std::size_t row, std::size_t place) -> std::string {
    if (by.starts_with("place")) return std::to_string(place + (by == "place 1" ? 1 : 0));
    if (by == "names" && row == foreign)
      return model.kind == "words" || model.kind == "named and dropped" || model.kind == "twice" || model.kind == "kinds"
                 ? "strange"
                 : "7654321";
    if (by == "names" && !model.all_names.empty()) return model.all_names[row];
    const std::string number = std::to_string(row + (by == "index 1" ? 1 : by == "index 7" ? 7 : 0));
    return by == "img_" ? "img_" + number + ".png" : number;
  };

  if (by == "names" && told) {  // rows of one name changed places: no file tells that
    std::vector<std::size_t> own = rows;
    own.erase(std::remove(own.begin(), own.end(), foreign), own.end());
    Words written;
    for (const std::size_t row : own) written.push_back(called(row, 0));
    file.cannot_tell = written == model.names && own != model.kept;
  }
  // a last label that is missing is a blank line, and nothing: the whole table is then as long as a part of it
  file.cannot_tell = file.cannot_tell || (by == "nothing" && whole && label[rows.back()].empty());

  const bool named = by != "nothing" && !(by == "names" && !told), header = chance.one_in(2), last = chance.one_in(4);
  const std::string beside = chance.of<std::string>({"", "", "rank", "score"}), end = chance.one_in(3) ? "\r\n" : "\n";
  const std::string separator = chance.of<std::string>({",", ",", ";", "\t", " ", ":"}),
                    quote = separator != " " && chance.one_in(3) ? "\"" : "";
  const bool no_heading = header && named && !last && chance.one_in(3);  // as R writes it
  const auto ranks = chance.permutation(rows.size());
  const auto line_of = [&](const Words& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() && &cell == &cells[0] ? "" : separator) + quote + cell + quote;
    return line + end;
  };
  if (header) {
    Words cells = {chance.of<std::string>({"kind", "celltype", "x"})};
    if (!beside.empty()) cells.push_back(beside);
    if (named && !no_heading) cells.insert(last ? cells.end() : cells.begin(), chance.of<std::string>({"", "cell", "index"}));
    file.text += line_of(cells);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Words cells = {label_of(rows[i])};
    if (beside == "rank") cells.push_back(std::to_string(ranks[i]));
    if (beside == "score") cells.push_back(std::to_string(0.37 * static_cast<double>(ranks[i] * ranks[i])));
    if (named) cells.insert(last ? cells.end() : cells.begin(), called(rows[i], i));
    file.text += line_of(cells);
  }
  const bool ordinary = separator != " " && separator != ":" && lines != "one twice for another" && named && beside != "rank";
  const bool words = model.kind == "words" || model.kind == "named and dropped";
  file.plain = ordinary && by == "names" && header && (words || (model.kind == "ids" && !last));
  file.plain = file.plain || (ordinary && model.kind == "bare" && order == "in order" && lines == "all" && header && !last &&
                              label[0] != "rare");
  file.story =
      model.kind + ", lines by " + by + ", " + order + ", " + lines + (whole ? ", whole table" : "") + (header ? ", header" : "");
  return file;
}

// The label at the end of a cell that may hold more, as a table of one column does.
std::string last_word(const std::string& cell) {
  const std::size_t at = cell.find_last_of(" :");
  return at == std::string::npos ? cell : cell.substr(at + 1);
}

class LabelTruthTest : public io_test::TemporaryFolder {};

TEST_F(LabelTruthTest, WhatIsTakenReachesItsOwnRows) {
  Chance chance;
  std::size_t taken = 0, plain = 0;
  const std::set<std::string> vocabulary = {"alpha", "beta", "gamma", "delta", "rare", ""};
  for (std::size_t round = 0; round < 6000; ++round) {
    const FittedRows model = made_model(chance);
    const File file = made_file(chance, model);
    if (file.cannot_tell) continue;
    std::vector<Labels> labels;
    try {
      labels = read_labels(put("labels.csv", file.text), {model.kept.size(), model.names, Placing::if_certain, model.left_out});
    } catch (const Error& error) {
      ASSERT_FALSE(file.plain) << file.story << "\n" << error.what() << "\n" << file.text;
      continue;
    }
    ++taken;
    plain += file.plain ? 1 : 0;
    for (const Labels& column : labels) {
      const auto is_label = [&](const std::string& cell) { return vocabulary.count(last_word(cell)) > 0; };
      if (column.words.empty() || !std::all_of(column.words.begin(), column.words.end(), is_label)) continue;
      ASSERT_EQ(column.words.size(), file.truth.size());
      for (std::size_t row = 0; row < file.truth.size(); ++row)
        ASSERT_EQ(last_word(column.words[row]), file.truth[row]) << file.story << ", row " << row << "\n" << file.text;
    }
  }
  EXPECT_GT(plain, 100u);
  EXPECT_GT(taken, 2 * plain);
}

// Tables of numbers and words, with headings of every kind, from which lines may be lost, and blank ones for rows or for nothing. A table of one
// column, or one that neither a count nor a heading tells from one without a header, cannot show that a line is lost: then none is.
struct Doubtful {
  std::string text;
  std::vector<Words> truth;  // by column, of twelve rows
  bool plain = false;
};

Doubtful doubtful_file(Chance& chance) {
  constexpr std::size_t rows = 12;
  Doubtful file;
  const std::size_t columns = 2 + chance.below(2);
  const std::string count = chance.of<std::string>({"", "", "0", "1", "row ", "img_"});
  const Words headings =
      chance.of<Words>({{}, {"0", "1", "2"}, {"2019", "2020", "2021"}, {"0.5", "1.5", "2.5"}, {"x", "7", "y"}, {"id", "p", "1"}});
  const Words kinds = chance.of<Words>(
      {{"whole", "whole", "whole"}, {"word", "word", "word"}, {"half", "half", "half"}, {"word", "whole", "half"}});
  const std::string above_count = chance.of<std::string>({"id", "name", ""});
  const bool short_head = !headings.empty() && !count.empty() && chance.one_in(4);  // as R writes it
  // whole numbers above others, and words that are labels as well as headings, show nothing
  const bool number_above_words = headings.empty() || headings[0] == "0" || headings[0] == "x";
  const bool told = !count.empty() || (!headings.empty() && ((kinds[0] == "word" && kinds[1] == "word" && number_above_words) ||
                                                             (kinds[0] == "half" && headings[0] != "x" && headings[0] != "id")));
  const bool lost = told && chance.one_in(3);
  const std::size_t lost_row = chance.below(rows);
  std::set<std::size_t> without;
  for (std::size_t i = chance.below(3); i > 0; --i) without.insert(chance.below(rows));
  const bool junk = chance.one_in(3);
  file.truth.assign(columns, Words(rows));
  Words lines;
  if (!headings.empty()) {
    std::string line = count.empty() || short_head ? "" : above_count + ",";
    for (std::size_t column = 0; column < columns; ++column) line += (column > 0 ? "," : "") + headings[column];
    lines.push_back(line);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = count.empty()                  ? ""
                       : count == "0" || count == "1" ? std::to_string(row + (count == "1" ? 1 : 0)) + ","
                                                      : count + std::to_string(row) + ",";
    for (std::size_t column = 0; column < columns; ++column) {
      std::string cell = chance.of<std::string>({"a", "b", "c"});
      if (kinds[column] == "whole") cell = std::to_string(chance.below(9));
      if (kinds[column] == "half") cell = fmt::format("{:.4f}", static_cast<double>(2 * chance.below(5000) + 1) / 10000 + 1e-4);
      line += (column > 0 ? "," : "") + cell;
      if (without.count(row) == 0 && !(lost && row == lost_row)) file.truth[column][row] = cell;
    }
    if (!lost || row != lost_row) lines.push_back(without.count(row) > 0 ? "" : line);
  }
  if (junk) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(chance.below(lines.size() + 1)), "");
  if (chance.one_in(4)) lines.emplace_back();
  for (const std::string& line : lines) file.text += line + "\n";
  file.plain = !lost && without.empty() && !junk && lines.back() != "" && !count.empty() && !short_head && headings.size() > 0;
  return file;
}

bool same_label(const Labels& column, std::size_t row, const std::string& truth) {
  if (!column.words.empty()) return column.words[row] == truth;
  return truth.empty() ? std::isnan(column.numbers[row]) : column.numbers[row] == std::stod(truth);
}

TEST_F(LabelTruthTest, WhatIsLostOrBlankShiftsNothing) {
  Chance chance;
  std::size_t taken = 0, plain = 0;
  for (std::size_t round = 0; round < 6000; ++round) {
    const Doubtful file = doubtful_file(chance);
    std::vector<Labels> labels;
    try {
      labels = read_labels(put("labels.csv", file.text), {12, {}});
    } catch (const Error& error) {
      ASSERT_FALSE(file.plain) << error.what() << "\n" << file.text;
      continue;
    }
    ++taken;
    plain += file.plain ? 1 : 0;
    ASSERT_GE(labels.size(), file.truth.size());
    for (std::size_t column = 0; column < file.truth.size(); ++column)
      for (std::size_t row = 0; row < 12; ++row)
        ASSERT_TRUE(same_label(labels[labels.size() - file.truth.size() + column], row, file.truth[column][row]))
            << "row " << row << "\n"
            << file.text;
  }
  EXPECT_GT(plain, 100u);
  EXPECT_GT(taken, 2 * plain);
}

}  // namespace
}  // namespace fd
