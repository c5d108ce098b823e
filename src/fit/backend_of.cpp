#include "fit/backend_of.hpp"

#include <algorithm>

#include <flashdiffusion/comm.hpp>

#include "base/team.hpp"

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
  request.ranks = options.ranks;
  request.rows_a_rank = options.rows_a_rank;
  return make_backend(request);
}

std::unique_ptr<Backend> backend_of_a_rank(const Options& options, std::optional<std::size_t> keep_bytes) {
  BackendRequest request = request_of(options, keep_bytes);
  if (options.comm == nullptr && options.ranks > 1)
    request.threads = std::max(1, (options.threads > 0 ? options.threads : available_cores()) / options.ranks);
  return make_backend(request);
}

std::size_t ranks_of(const Options& options) {
  return static_cast<std::size_t>(options.comm != nullptr ? options.comm->size() : options.ranks);
}

}  // namespace fd
