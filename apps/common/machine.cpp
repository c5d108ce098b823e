#include "common/machine.hpp"

#include <fstream>
#include <string>

#include "base/team.hpp"
#include "common/backends.hpp"

namespace fd::cli {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

nlohmann::json machine_json(const Options& options) {
  const BackendInUse backend = backend_in_use(options);
  return {{"cpu", cpu_model()}, {"cores", available_cores()}, {"isa", backend.isa}, {"backend", backend.description}};
}

}  // namespace fd::cli
