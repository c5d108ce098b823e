// How a text table of labels lies on the rows of a model: whether its first line is a header, and which line belongs to which row. Judged from
// the cells, without effects; whatever is recognised is also said.
//
// A header: a first line above a column that counts the lines, or holds names that rows share, and no part of it itself, whatever else it holds; one
// with a word above a column of numbers, an empty cell above a first column of names or an index, a usual heading ("cluster", "cell_type").
// Likely, and no more: words that occur once above columns in which every other word occurs again (so does a rare label), and numbers as pandas
// makes headings of (0, 1, 2 across; 2019 or 0.5 above numbers that have more decimals). No header: other numbers above numbers (likely, and no
// more), a word that occurs again below, a blank line, a cell that counts as those below do ("row 1"). What is neither is a header where that makes
// the lines as many as the rows. Rows that were left out before the fit make that no proof: the file may be that of the whole table, and is refused;
// so is one in which a word above numbers may be the label of the first row of the whole table.
// The user who says that lines are in order says that there is one a row: what is likely gives way to that.
// Blank lines between those of several columns: rows without labels, or nothing, whichever makes the lines as many as the rows; refused where some of
// them, or some at the end, may be rows and others nothing. What is not certain of the first line proves nothing beside a blank line: refused where
// some blank lines make the rows with a header, and some without.
// Names: label_names.hpp. Where the user says so, lines are taken in order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fd {

using LabelLine = std::vector<std::string>;

// The lines of a table that are not blank, and where blank ones stand: before the line with that index.
struct LabelLines {
  std::vector<LabelLine> filled;
  std::vector<std::size_t> blank;
  std::size_t above = 0;          // lines of the file above the table: comments, and what is blank there
  std::size_t trailing = 0;       // blank ones at the end
  std::size_t empty = 0;          // blank ones in `filled`: of one column they are missing labels
  std::vector<std::size_t> ends;  // of each file that was read: lines in `filled` when it ended
  bool headed = false;  // the first line is a header for certain: it has no cell for the column of names, as R writes it
  bool decimal_commas = false;
  bool halves = false;                            // each line could be one number with a decimal comma
  std::string first_column = "the first column";  // in sentences
};

// What the first line is, by its words: of "either" nothing shows which.
enum class FirstLine { header, likely_header, either, likely_label, label };

// `names`: of the model's rows, or none.
FirstLine judge_first_line(const LabelLines& table, const std::vector<std::string>& names = {});
inline bool looks_like_label(FirstLine first) { return first >= FirstLine::likely_label; }
inline bool looks_like_header(FirstLine first) { return first <= FirstLine::likely_header; }

// How lines find their rows: as far as the file leaves no doubt, or as the user says.
enum class Placing { if_certain, in_order, by_name };

struct LabelLayout {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  bool header = false;               // the first line names the columns
  std::size_t names = none;          // the column that names the rows
  std::vector<std::size_t> lines;    // of each row of the model, from 0 in `filled`; none: a blank one
  std::vector<std::string> remarks;  // what was recognised, in sentences without a full stop
};

// The rows of the model that a file has lines for.
struct LabelledRows {
  std::size_t count;
  const std::vector<std::string>& names;  // or none
  Placing placing = Placing::if_certain;
  std::size_t left_out = 0;  // rows of the table the model was made of, before the fit
};

// `noun`: what a line is called ("label"). Throws Error(input) that names `path`.
LabelLayout lay_out_labels(const LabelLines& lines, const LabelledRows& rows, const std::string& path, const char* noun);

}  // namespace fd
