// What the page's script reads: figures and texts as one JSON document, and the columns of the map beside it.
//
// Guarantees: numbers that are not finite are null. Does not know: HTML.
#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include <flashdiffusion/report.hpp>

#include "report/columns.hpp"
#include "report/findings.hpp"

namespace fd {

// Rows that the map shows, ascending; all of them where there are no more than `most`.
std::vector<std::size_t> shown_rows(const Model& model, std::size_t most);

// The leading modes, as many as a page has room for, the density, then the labels.
std::vector<Column> map_columns(const Model& model, const std::vector<Labels>& labels, const std::vector<std::size_t>& rows);

nlohmann::ordered_json report_document(const Model& model, const Findings& findings, const std::vector<Column>& columns,
                                       const std::vector<std::size_t>& rows);

}  // namespace fd
