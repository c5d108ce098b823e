#include "cli/provenance.hpp"

#include <chrono>
#include <ctime>

#include <flashdiffusion/version.hpp>

#include "cli/fit_arguments.hpp"
#include "common/machine.hpp"

namespace fd::cli {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string provenance_text(const std::vector<std::string>& command, const Options& options, const std::vector<InputFile>& inputs,
                            const std::vector<std::string>& notes, const std::vector<std::string>& columns, double wall_seconds) {
  nlohmann::json files = nlohmann::json::array();
  for (const InputFile& input : inputs) {
    nlohmann::json file = {{"path", input.path}, {"bytes", input.bytes}};
    if (!input.crc32.empty()) file["crc32"] = input.crc32;
    files.push_back(file);
  }
  nlohmann::json document = {{"command", command},
                             {"options", to_json(options)},
                             {"version", version},
                             {"build", build_description()},
                             {"machine", machine_json(options)},
                             {"inputs", files},
                             {"notes", notes},
                             {"wall_seconds", wall_seconds},
                             {"date", utc_now()}};
  if (!columns.empty()) document["feature_names"] = columns;
  // A path need not be UTF-8; what is not is replaced rather than refused.
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> fitted_columns(const Model& model) {
  const auto document = nlohmann::json::parse(model.provenance, nullptr, false);
  const auto found = document.find("feature_names");
  if (found == document.end() || !found->is_array()) return {};
  std::vector<std::string> names;
  for (const nlohmann::json& name : *found) {
    if (!name.is_string()) return {};
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace fd::cli
