// Names of rows in the model file: they come back, models without them are as before, and a wrong number of them is refused.
#include <flashdiffusion/model.hpp>

#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class IoNames : public TemporaryFolder {
 protected:
  static Model model() {
    Model model;
    model.beta = 1;
    model.n = 3;
    model.dimension = 1;
    model.eigenvalues = {0.5};
    model.residuals = {1e-6};
    model.psi = Table(3, 1, false);
    model.points = Table(3, 1, false);
    for (std::size_t i = 0; i < 3; ++i) {
      model.psi.set(i, 0, static_cast<double>(i) - 1);
      model.points.set(i, 0, static_cast<double>(i) - 1);
    }
    model.q = model.d = {1, 2, 1};
    normalise(model);
    model.mean = {0};
    model.provenance = "{}";
    return model;
  }
};

TEST_F(IoNames, ComeBack) {
  Model written = model();
  written.names = {"a", "Zelle ä, \"quoted\"", ""};
  save_model(written, path("m.h5"));
  EXPECT_EQ(load_model(path("m.h5")).names, written.names);
  EXPECT_TRUE(load_model(path("m.h5"), false).names.empty());
  save_model(model(), path("m.h5"));
  EXPECT_TRUE(load_model(path("m.h5")).names.empty());
}

TEST_F(IoNames, OneARow) {
  Model wrong = model();
  wrong.names = {"a", "b"};
  EXPECT_TRUE(says(error_of([&] { save_model(wrong, path("m.h5")); }), "names are not one a row"));
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace fd::io_test
