// What the map of a page holds: rows, columns and names, as much of them as a page has room for.
//
// Guarantees: with what else it holds a page stays below 6 MB, whatever labels and names there are: first modes beyond the eighth are left out,
// then names, then modes beyond the fourth, then rows; of thousands of columns of labels those whose
// headings find no room. What was left out is said. Does not know: HTML.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <flashdiffusion/report.hpp>

#include "report/columns.hpp"

namespace fd {

struct MapContent {
  std::vector<std::size_t> rows;    // ascending; all of them where there are no more than were asked for
  std::vector<Column> columns;      // the leading modes, the density, then the labels
  bool names = false;               // of the rows, where the model has any
  std::vector<std::string> limits;  // what is not all there, in sentences
};

// `most`: rows.
MapContent map_content(const Model& model, const std::vector<Labels>& labels, std::size_t most);

}  // namespace fd
