// A .npz archive: the zip around .npy arrays, and the choice among them. Through the entry that all formats share.
#include "fuzzed_file.hpp"
#include "io/open_points.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  const std::string file = folder.put("points.npz", data, size);
  fd::fuzz::only_clear_errors([&] { fd::fuzz::read_some(*fd::open_points({file})); });
  return 0;
}
