// A .npy array in memory: header, shape against size, every element type.
#include "fuzzed_file.hpp"
#include "io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fd::fuzz::only_clear_errors([&] {
    const auto source = fd::open_npy(std::make_unique<fd::MemoryBytes>("array.npy", std::vector<char>(data, data + size)));
    fd::fuzz::read_some(*source);
  });
  return 0;
}
