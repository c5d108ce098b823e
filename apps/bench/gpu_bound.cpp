#include "bench/gpu_bound.hpp"

#include <filesystem>

#include "bench/gpu_bounds_text.hpp"

namespace fd::cli {
namespace {

// The build folder, which this program lies in: it is not installed.
std::string build_folder() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? std::string("build") : program.parent_path().string();
}

}  // namespace

GpuBound::GpuBound(const std::string& python) : process_(python, {"-c", gpu_bounds_text, "--serve", build_folder()}, 1, {}) {}

GpuBound::Rate GpuBound::of(const DeviceFacts& device, std::size_t dimension, std::size_t columns) {
  Rate rate;
  if (!process_.runs()) {
    rate.why = "no Python (--python names one): " + process_.failure();
    return rate;
  }
  const nlohmann::json answer = process_.ask({{"capability", device.capability},
                                              {"multiprocessors", device.multiprocessors},
                                              {"hertz", device.hertz},
                                              {"dimension", dimension},
                                              {"columns", columns}});
  if (answer.contains("error")) {
    rate.why = answer["error"].get<std::string>();
    return rate;
  }
  rate.pipes = answer["pipes"].get<double>();
  rate.busiest = answer["busiest"].get<std::string>();
  if (answer["issued"].is_number()) rate.issued = answer["issued"].get<double>();
  else rate.why = "instructions are not counted without nvdisasm: `tools/cuda build inspect` fetches it";
  return rate;
}

}  // namespace fd::cli
