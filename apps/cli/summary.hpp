// What is said about a model: a short table for people, one JSON document under the names of the model file for programs.
// `fit` and `info` say the same.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <flashdiffusion/model.hpp>

namespace fd::cli {

// `origin`: where beta came from, e.g. "given by --sigma 0.5"; empty where it is not known.
std::string summary_text(const Model& model, const std::string& origin = {});
nlohmann::ordered_json summary_json(const Model& model);

// Remarks on a model with its arrays: name, weight, sentence, action.
nlohmann::ordered_json remarks_json(const Model& model);

std::string row_text(const std::string& label, const std::string& value);  // a line of the table

}  // namespace fd::cli
