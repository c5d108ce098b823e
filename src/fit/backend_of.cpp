#include "fit/backend_of.hpp"

#include <flashdiffusion/comm.hpp>

#include "base/threads_a_rank.hpp"

namespace fd {
namespace {

BackendRequest request_of(const Options& options, std::optional<std::size_t> keep_bytes) {
  BackendRequest request{options.backend, options.isa, options.threads, keep_bytes, options.beta.has_value()};
  request.devices = options.devices;
  return request;
}

}  // namespace

std::unique_ptr<Backend> backend_of(const Options& options, std::optional<std::size_t> keep_bytes) {
  BackendRequest request = request_of(options, keep_bytes);
  request.comm = options.comm;
  request.ranks = options.devices.size() > 1 ? static_cast<int>(options.devices.size()) : options.ranks;  // a rank a device
  request.rows_a_rank = options.rows_a_rank;
  return make_backend(request);
}

std::unique_ptr<Backend> backend_of_a_rank(const Options& options, std::optional<std::size_t> keep_bytes) {
  BackendRequest request = request_of(options, keep_bytes);
  request.threads = threads_a_rank(options.threads, options.comm == nullptr ? static_cast<int>(ranks_of(options)) : 1);
  return make_backend(request);
}

std::size_t ranks_of(const Options& options) {
  if (options.comm != nullptr) return static_cast<std::size_t>(options.comm->size());
  return options.devices.size() > 1 ? options.devices.size() : static_cast<std::size_t>(options.ranks);
}

}  // namespace fd
