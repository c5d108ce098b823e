#include <flashdiffusion/version.hpp>

#include <string>

#include <fmt/core.h>
#include <Eigen/Core>

#include "device/backend.hpp"

#ifndef FD_COMMIT
#define FD_COMMIT "unknown"
#endif

namespace fd {

std::string commit() { return FD_COMMIT; }

std::string build_description() {
  std::string sets;
  for (const auto& isa : instruction_sets()) sets += (sets.empty() ? "" : ", ") + isa;
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return fmt::format(
      "flashdiffusion {}\ncommit {}\ncompiler {}\ninstruction set in use {} (available: {})\nlibraries Eigen {}.{}.{}, fmt "
      "{}.{}.{}",
      version, FD_COMMIT, compiler, make_backend({"cpu", "", 1})->isa(), sets, EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
      EIGEN_MINOR_VERSION, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

}  // namespace fd
