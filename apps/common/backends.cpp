#include "common/backends.hpp"

#include "device/backend.hpp"

namespace fd::cli {

std::vector<std::string> backend_choices() {
  std::vector<std::string> names = backend_names();
  names.insert(names.begin(), "auto");
  return names;
}

BackendInUse backend_in_use(const Options& options) {
  BackendRequest request{options.backend, options.isa, options.threads};
  if (!options.devices.empty()) request.devices = {options.devices.front()};  // the others are like it
  const auto backend = make_backend(request);
  std::string description = backend->description();
  for (std::size_t i = 1; i < options.devices.size(); ++i) description += ", GPU " + std::to_string(options.devices[i]);
  return {description, backend->isa()};
}

}  // namespace fd::cli
