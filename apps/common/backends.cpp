#include "common/backends.hpp"

#include "device/backend.hpp"

namespace fd::cli {

std::vector<std::string> backend_choices() {
  std::vector<std::string> names = backend_names();
  names.insert(names.begin(), "auto");
  return names;
}

BackendInUse backend_in_use(const Options& options) {
  const auto backend = make_backend({options.backend, options.isa, options.threads});
  return {backend->description(), backend->isa()};
}

}  // namespace fd::cli
