// A model file, as `transform` reads it; `info` reads less, and accepts what `transform` does. What is accepted has shapes that agree.
#include <flashdiffusion/model.hpp>

#include "fuzzed_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  const std::string file = folder.put("model.h5", data, size);
  bool accepted = false;
  fd::fuzz::read_in_this_process();
  fd::fuzz::only_clear_errors([&] {
    const fd::Model model = fd::load_model(file);
    fd::fuzz::require(model.q.size() == model.n && model.d.size() == model.n && model.mean.size() == model.dimension,
                      "shapes that agree");
    fd::fuzz::require(model.psi.rows() == model.n && model.psi.columns() == model.modes(), "shapes that agree");
    fd::fuzz::require(model.residuals.size() == model.modes(), "shapes that agree");
    fd::fuzz::require(model.points.empty() || (model.points.rows() == model.n && model.points.columns() == model.dimension),
                      "shapes that agree");
    accepted = true;
  });
  bool described = false;
  fd::fuzz::only_clear_errors([&] { described = !accepted || fd::load_model(file, false).n > 0; });
  fd::fuzz::require(described, "info of what transform accepts");
  return 0;
}
