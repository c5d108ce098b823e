#include "common/program_ranks.hpp"

#include <dlfcn.h>
#include <signal.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {
namespace {

Comm* ranks = nullptr;

bool started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

constexpr const char* library = "libflashdiffusion-mpi.so";

std::unique_ptr<Comm> open_mpi() {
  std::vector<std::string> places;
  std::error_code unknown;
  if (const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown); !unknown)
    for (const char* from : {"", "..", FD_LIBRARIES_FROM_PROGRAM})
      places.push_back((program.parent_path() / from / library).lexically_normal().string());
  places.emplace_back(library);
  void* handle = nullptr;
  for (const std::string& place : places)
    if (handle == nullptr) handle = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    throw Error(Failure::device, fmt::format("started by an MPI launcher, and {} cannot be opened ({})", library, dlerror()),
                "build with MPI (libopenmpi-dev), or start the program without the launcher");
  using Open = Comm* (*)();
  const auto open = reinterpret_cast<Open>(dlsym(handle, "flashdiffusion_mpi_comm"));
  if (open == nullptr) throw Error(Failure::device, fmt::format("{} is of another version", library), "install both together");
  return std::unique_ptr<Comm>(open());
}

// Messages come and go by the megabyte: without a threshold that stays where it is the allocator would keep what they leave.
void give_back_what_is_freed() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

Comm* program_ranks() { return ranks; }

int run_on_ranks(const std::function<int()>& program) {
  if (!started_by_launcher()) return program();
  std::unique_ptr<Comm> comm;
  catch_interrupts();  // a signal while MPI starts is kept for later
  try {
    comm = open_mpi();
  } catch (const Error& error) {
    complain(error.what(), error.hint());
    return exit_status(error.kind());
  }
  if (comm->size() == 1) return program();
  give_back_what_is_freed();
  if (comm->rank() == 0) {
    ranks = comm.get();
    const int status = program();
    dismiss(*comm);
    return status;
  }
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) signal(number, SIG_IGN);  // rank 0 decides what comes of them
  try {
    serve(*comm);
    return done;
  } catch (const std::exception& error) {
    complain(fmt::format("rank {}: {}", comm->rank(), error.what()));
    std::_Exit(failure);  // the launcher ends the others
  }
}

}  // namespace fd::cli
