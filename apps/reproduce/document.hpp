// A result as JSON, for programs and for the page's script. Numbers that are not finite are null.
#pragma once

#include <nlohmann/json.hpp>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// A value is null, a number, words, or {"value", "spread"}.
nlohmann::ordered_json document_of(const Result& result);
nlohmann::ordered_json document_of(const LeftOut& left_out);

}  // namespace fd::reproduce
