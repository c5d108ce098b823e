// What the page's script reads: figures and texts as one JSON document. The columns of the map stand beside it.
//
// Guarantees: numbers that are not finite are null. Does not know: HTML.
#pragma once

#include <nlohmann/json.hpp>

#include <flashdiffusion/report.hpp>

#include "report/findings.hpp"
#include "report/map_content.hpp"

namespace fd {

nlohmann::ordered_json report_document(const Model& model, const Findings& findings, const MapContent& map);

}  // namespace fd
