// How a text table is laid out: what separates its cells, whether its first line names the columns, which column names the rows. Judged
// from the first lines alone, without effects; whatever is recognised is also said.
//
// A header: a first line without numbers, and not of numbers with a mistake in each; or one whose numbers only label columns. These are
// 0, 1, 2, … over rows that are not of that kind, also in another order over fractions; the names that the columns are known to have; beside
// a word, years that increase, or a sequence that rises or falls throughout, over rows that do not; any numbers beside the name of a column of
// names ("gene", "sample id" or nothing). A first line with numbers beside a word is otherwise a row with a mistake in it, which the caller
// refuses by name, or, over a column of names, a row with its name.
// Row names: a first column of words; or one of numbers whose header is empty, "Unnamed: 0", "index", "id" or "name".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <flashdiffusion/read_points.hpp>

namespace fd {

struct TextRow {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

struct TextLayout {
  std::size_t width = 0;             // cells of a row, the name among them
  bool header = false;               // the first row of the sample names the columns
  std::vector<std::string> columns;  // their names, `width` of them, where there is a header
  std::optional<std::size_t> names;  // the column that names the rows, from 0
  bool empty_end = false;            // every row has one more cell, at its end, which is empty: a separator too many
  bool called_names = false;         // the first column is called as a column of names, and taken for a coordinate
  bool doubtful = false;             // the first row is taken for a point, and might as well be a header
};

// `sample`: the first rows, at least one. Throws Error(misuse) where options.names is no column of the table.
TextLayout recognise_layout(const std::vector<TextRow>& sample, bool decimal_commas, const ReadOptions& options,
                            const std::string& file);

}  // namespace fd
