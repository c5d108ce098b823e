// A model file, as `info` reads it and as `transform` does. What is accepted has shapes that agree.
#include <flashdiffusion/model.hpp>

#include "fuzzed_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  const std::string file = folder.put("model.h5", data, size);
  fd::fuzz::only_clear_errors([&] { fd::load_model(file, false); });
  fd::fuzz::only_clear_errors([&] {
    const fd::Model model = fd::load_model(file);
    fd::fuzz::require(model.q.size() == model.n && model.d.size() == model.n && model.mean.size() == model.dimension,
                      "shapes that agree");
    fd::fuzz::require(model.psi.rows() == model.n && model.psi.columns() == model.modes(), "shapes that agree");
    fd::fuzz::require(model.residuals.size() == model.modes(), "shapes that agree");
    fd::fuzz::require(model.points.empty() || (model.points.rows() == model.n && model.points.columns() == model.dimension),
                      "shapes that agree");
  });
  return 0;
}
