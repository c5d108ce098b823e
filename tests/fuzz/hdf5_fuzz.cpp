// Points in an HDF5 file: the choice of a dataset, its type and layout. Through the entry that all formats share.
#include "fuzzed_file.hpp"
#include "io/open_points.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  fd::fuzz::read_in_this_process();
  const std::string file = folder.put("points.h5", data, size);
  fd::fuzz::only_clear_errors([&] { fd::fuzz::read_some(*fd::open_points({file})); });
  return 0;
}
