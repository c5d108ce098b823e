// The only file that names concrete back-ends. A new one is a folder beside this file and a row in the table.
#include <array>

#include <flashdiffusion/comm.hpp>
#include <flashdiffusion/error.hpp>

#include "backends/cpu/cpu_backend.hpp"
#include "backends/cuda/cuda_backend.hpp"
#include "backends/ranks/rank_backend.hpp"
#include "backends/ranks/serve.hpp"
#include "backends/reference/reference_backend.hpp"
#include "device/backend.hpp"
#include "device/devices.hpp"
#include "device/passed_over.hpp"

namespace fd {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<Backend> (*make)(const BackendRequest&);
  bool everywhere = true;                           // no machine is without it
  std::vector<DeviceFacts> (*devices)() = nullptr;  // null: it has none to choose from
};

#ifdef FD_HAVE_CUDA
std::unique_ptr<Backend> make_cuda(const BackendRequest& r) {
  return make_cuda_backend(r.devices.empty() ? -1 : r.devices.front());
}
#else
NoDevice no_cuda() {
  return NoDevice("this build has no CUDA back-end: it was configured without nvcc", "`make cuda` builds it; see docs/gpu.md");
}
std::unique_ptr<Backend> make_cuda(const BackendRequest&) { throw no_cuda(); }
std::vector<DeviceFacts> cuda_devices() { throw no_cuda(); }
#endif

// "auto" is the first row that can be made: one that not every machine has is passed over where it is not there, or has no memory left, unless devices
// are named, which are then what is wanted.
constexpr std::array<Row, 3> table = {{
    {"cuda", make_cuda, false, cuda_devices},
    {"cpu", [](const BackendRequest& r) { return make_cpu_backend(r.isa, r.threads, r.keep_bytes, r.one_bandwidth); }},
    {"reference", [](const BackendRequest&) { return make_reference_backend(); }},
}};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendRequest& request) {
  if (request.comm != nullptr ? request.comm->size() > 1 : request.ranks > 1) return make_rank_backend(request);
  std::string known = "auto";
  for (const auto& row : table) {
    if (request.name == row.name || (request.name == "auto" && (row.everywhere || !request.devices.empty())))
      return row.make(request);
    if (request.name == "auto") {
      try {
        return row.make(request);
      } catch (const Error& error) {
        if (error.kind() != Failure::device && error.kind() != Failure::memory) throw;
      }
    }
    known += std::string(", ") + row.name;
  }
  throw Error(Failure::misuse, "unknown back-end '" + request.name + "'", "use one of " + known);
}

std::string passed_over(const std::string& wanted, const std::string& taken) {
  if (wanted != "auto") return "";
  for (const auto& row : table) {
    if (row.everywhere || row.name == taken) break;
    try {
      row.make({});
    } catch (const NoDevice&) {
    } catch (const Error& error) {
      return std::string(error.what()) + "; " + taken + " computes instead";
    }
  }
  return "";
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

std::vector<DeviceFacts> devices_of(const std::string& backend) {
  for (const auto& row : table)
    if (backend == row.name && row.devices != nullptr) return row.devices();
  return {};
}

void serve_ranks(Comm& comm) { ranks::serve(comm); }
void dismiss_ranks(Comm& comm) { ranks::dismiss(comm); }

std::vector<std::string> instruction_sets() { return cpu_instruction_sets(); }

}  // namespace fd
