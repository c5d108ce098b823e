// Points in an HDF5 file: the choice of a dataset, its type and layout, sparse matrices and names of rows. Through the entry that all formats
// share. The first byte is no part of the file: odd, it is called .h5ad, in which AnnData's tables are looked for; even, .h5.
#include "fuzzed_file.hpp"
#include "io/open_points.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  if (size == 0) return 0;
  fd::fuzz::read_in_this_process();
  const std::string file = folder.put(data[0] % 2 == 1 ? "points.h5ad" : "points.h5", data + 1, size - 1);
  fd::fuzz::only_clear_errors([&] {
    const auto source = fd::open_points({file});
    fd::fuzz::require(source->row_names().empty() || source->row_names().size() == source->rows(), "a name a row");
    fd::fuzz::read_some(*source);
  });
  return 0;
}
