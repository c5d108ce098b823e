// Model files that are damaged, edited or hostile: an error that says what is wrong, before memory is taken for it.
#include <hdf5.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include <flashdiffusion/model.hpp>

#include "io/file_seal.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Model small_model() {
  Model model;
  model.beta = 1;
  model.n = 4;
  model.dimension = 2;
  model.eigenvalues = {0.9, 0.5};
  model.residuals = {1e-6, 1e-6};
  model.psi = Table(4, 2, false);
  model.points = Table(4, 2, false);
  model.q = {1, 2, 3, 4};
  model.d = {1, 0, 3, 4};  // 0: a row left out of the fit
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j) model.psi.set(i, j, i % 2 == j ? -1 : 1);
  model.mean = {0, 0};
  model.sweep.resize(1);
  model.sweep[0].eigenvalues = {0.9, 0.5};
  return model;
}

class IoModelDamage : public TemporaryFolder {
 protected:
  // Changes a whole model through HDF5, as an editor would; the seal is dropped by that.
  Error error_after(const std::function<void(hid_t)>& edit) {
    save_model(small_model(), path("model.h5"));
    const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    edit(file);
    H5Fclose(file);
    EXPECT_EQ(examine_seal(path("model.h5")), Seal::none);
    const Error error = error_of([&] { load_model(path("model.h5")); });
    EXPECT_EQ(error.kind(), Failure::input);
    return error;
  }
  static void replace(hid_t file, const char* name, const std::vector<hsize_t>& shape, const double* values) {
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                data = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (values != nullptr) H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(data);
    H5Sclose(space);
  }
  static void set(hid_t file, const char* name, double value) {
    const hid_t found = H5Aopen(file, name, H5P_DEFAULT);
    H5Awrite(found, H5T_NATIVE_DOUBLE, &value);
    H5Aclose(found);
  }
};

TEST_F(IoModelDamage, WholeModelsPass) {
  save_model(small_model(), path("model.h5"));
  EXPECT_EQ(examine_seal(path("model.h5")), Seal::whole);
  EXPECT_NO_THROW(load_model(path("model.h5")));
  // An edit that keeps it a model drops the seal, and the model is still read.
  const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  set(file, "beta", 2);
  H5Fclose(file);
  EXPECT_EQ(examine_seal(path("model.h5")), Seal::none);
  EXPECT_EQ(load_model(path("model.h5")).beta, 2);
}

TEST_F(IoModelDamage, EmptyAndMisshapenArrays) {
  const std::vector<double> zeros(64, 1.0);
  for (const char* name : {"/q", "/d", "/mean", "/eigenvalues", "/residuals"}) {
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {0}, nullptr); }), name));
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {3}, zeros.data()); }), name));
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {4, 2}, zeros.data()); }), name));
  }
  for (const char* name : {"/psi", "/points"}) {
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {0, 2}, nullptr); }), name));
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {2, 4}, zeros.data()); }), name));
    EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, {8}, zeros.data()); }), name));
  }
}

TEST_F(IoModelDamage, ValuesThatNoFitGives) {
  const auto with = [&](const char* name, std::vector<hsize_t> shape, std::vector<double> values) {
    return error_after([&](hid_t file) { replace(file, name, shape, values.data()); });
  };
  for (const double bad : {nan, std::numeric_limits<double>::infinity(), -1.0}) {
    EXPECT_TRUE(says(with("/q", {4}, {1, bad, 1, 1}), "q holds"));
    EXPECT_TRUE(says(with("/d", {4}, {1, bad, 1, 1}), "d holds"));
  }
  for (const double bad : {0.0, 1e-90, 0.9, 1e90}) EXPECT_TRUE(says(with("/q", {4}, {1, bad, 1, 1}), "q holds"));
  EXPECT_TRUE(says(with("/d", {4}, {1, 1e300, 1, 1}), "d holds"));
  for (const double bad : {0.0, 1e-3, 2.0, 1e38, 1e300}) {
    EXPECT_TRUE(says(with("/psi", {4, 2}, std::vector<double>(8, bad)), "psi of mode 1 is not normalised"));
    EXPECT_TRUE(says(with("/psi", {4, 2}, {1, 1, 1, 1, 1, 1, 1, bad}), "psi of mode 2 is not normalised"));
  }
  EXPECT_TRUE(says(with("/psi", {4, 2}, {1, 1, 1, -1e38, 1, 1, 1, 1}), "psi of mode 2 is too large on a row set aside"));
  for (const double bad : {nan, -1e-9}) EXPECT_TRUE(says(with("/residuals", {2}, {1e-6, bad}), "residual 2 is"));
  EXPECT_TRUE(says(with("/d", {4}, {0, 0, 0, 0}), "d is zero"));
  EXPECT_TRUE(says(with("/psi", {4, 2}, {0, 0, 0, nan, 0, 0, 0, 0}), "psi holds"));
  EXPECT_TRUE(says(with("/points", {4, 2}, {0, 0, 0, nan, 0, 0, 0, 0}), "points hold"));
  EXPECT_TRUE(says(with("/mean", {2}, {0, nan}), "mean holds"));
  EXPECT_TRUE(says(with("/eigenvalues", {2}, {0.9, nan}), "eigenvalue 2"));
  EXPECT_TRUE(says(with("/eigenvalues", {2}, {1e3, 0.5}), "eigenvalue 1"));
  EXPECT_TRUE(says(with("/eigenvalues", {2}, {0.5, 0.9}), "descend"));
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(says(error_after([&](hid_t file) { set(file, "beta", bad); }), "beta is"));
  for (const double bad : {7.0, -0.1, nan})
    EXPECT_TRUE(says(error_after([&](hid_t file) { set(file, "alpha", bad); }), "alpha is"));
  EXPECT_TRUE(says(error_after([&](hid_t file) { set(file, "modes", 3); }), "/eigenvalues"));
  EXPECT_TRUE(says(error_after([&](hid_t file) { set(file, "n", 5); }), "/q"));
  EXPECT_TRUE(says(error_after([&](hid_t file) { set(file, "dimension", 3); }), "/mean"));
  EXPECT_TRUE(says(error_after([&](hid_t file) {
                     const hid_t kernel = H5Aopen(file, "kernel", H5P_DEFAULT), type = H5Aget_type(kernel);
                     H5Awrite(kernel, type, "laplace!");
                     H5Tclose(type);
                     H5Aclose(kernel);
                   }),
                   "laplace!"));
}

// 300 million entries that were never written would cost 2.4 GB.
TEST_F(IoModelDamage, ClaimsAreComparedWithWhatIsStored) {
  const hsize_t many = 300'000'000;
  const Error error = error_after([&](hid_t file) {
    set(file, "n", static_cast<double>(many));
    for (const char* name : {"/q", "/d"}) replace(file, name, {many}, nullptr);
    for (const char* name : {"/psi", "/points"}) replace(file, name, {many, 2}, nullptr);
  });
  EXPECT_TRUE(says(error, "claims 300000000 values"));
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(used.ru_maxrss, 1 << 20);  // kB
}

TEST_F(IoModelDamage, EveryFlippedBitOfASealedModelIsFound) {
  save_model(small_model(), path("model.h5"));
  const std::string whole = get("model.h5");
  const std::size_t sealed = whole.rfind("\nflashdiffusion seal");
  for (std::size_t bit = 0; bit < sealed * 8; bit += 61) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ(examine_seal(put("flipped.h5", flipped)), Seal::broken) << bit;
    ASSERT_TRUE(says(error_of([&] { load_model(path("flipped.h5")); }), "damaged")) << bit;
  }
}

// A cut or changed seal is not the same as none: bytes behind HDF5's own end that are no whole seal are damage.
TEST_F(IoModelDamage, ASealThatIsCutOrChanged) {
  save_model(small_model(), path("model.h5"));
  const std::string whole = get("model.h5");
  const std::size_t sealed = whole.rfind("\nflashdiffusion seal");
  for (std::size_t bit = sealed * 8; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(says(error_of([&] { load_model(put("flipped.h5", flipped)); }), "damaged")) << bit - sealed * 8;
  }
  for (std::size_t length = 0; length < whole.size(); length += length < sealed ? 97 : 1) {
    if (length == sealed) continue;
    ASSERT_FALSE(error_of([&] { load_model(put("cut.h5", whole.substr(0, length))); }).hint().empty())
        << length << " of " << sealed;
  }
  EXPECT_TRUE(says(error_of([&] { load_model(put("longer.h5", whole + "\n")); }), "seal"));
  EXPECT_NO_THROW(load_model(put("unsealed.h5", whole.substr(0, sealed))));  // as an edit leaves it
}

TEST_F(IoModelDamage, RowsSetAside) {
  const auto with = [&](const std::vector<hsize_t>& shape, const std::vector<double>& values) {
    return error_after([&](hid_t file) { replace(file, "/aside", shape, values.empty() ? nullptr : values.data()); });
  };
  EXPECT_TRUE(says(with({5}, {0, 1, 2, 3, 3}), "more rows than there are"));
  EXPECT_TRUE(says(with({2, 2}, {0, 1, 2, 3}), "more rows than there are"));
  EXPECT_TRUE(says(with({300'000'000}, {}), "more rows than there are"));  // not one of them is read
  EXPECT_TRUE(says(with({2}, {1, 4}), "not there"));
  EXPECT_TRUE(says(with({2}, {-1, 1}), "not there"));
  EXPECT_TRUE(says(with({2}, {1, 1}), "does not ascend"));
}

TEST_F(IoModelDamage, SweepColumnsAreOfOneLength) {
  const std::vector<double> ones(8, 1.0);
  for (const char* name : {"/sweep/n", "/sweep/passes", "/sweep/beta", "/sweep/v"})
    for (const std::vector<hsize_t>& shape : {std::vector<hsize_t>{2}, std::vector<hsize_t>{2, 2}, std::vector<hsize_t>{}})
      EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, name, shape, ones.data()); }), name));
  EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, "/sweep/eigenvalues", {2, 2}, ones.data()); }), "no row a probe"));
  EXPECT_TRUE(
      says(error_after([&](hid_t file) { H5Ldelete(file, "/sweep/outcome", H5P_DEFAULT); }), "/sweep/outcome is missing"));
  const double negative = -1;
  EXPECT_TRUE(says(error_after([&](hid_t file) { replace(file, "/sweep/n", {1}, &negative); }), "/sweep/n holds -1"));
}

// No child is forked beside other threads; the answers are the same.
TEST_F(IoModelDamage, WithOtherThreads) {
  save_model(small_model(), path("model.h5"));
  std::thread([&] {
    EXPECT_EQ(load_model(path("model.h5")).beta, 1);
    EXPECT_EQ(error_of([&] { load_model(put("words.h5", "words")); }).kind(), Failure::input);
  }).join();
}

TEST_F(IoModelDamage, TextHasFixedLength) {
  save_model(small_model(), path("model.h5"));
  const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (const char* name : {"format", "kernel", "precision", "outcome"}) {
    const hid_t found = H5Aopen(file, name, H5P_DEFAULT), type = H5Aget_type(found);
    EXPECT_EQ(H5Tis_variable_str(type), 0) << name;
    EXPECT_EQ(H5Tget_cset(type), H5T_CSET_UTF8) << name;
    H5Tclose(type);
    H5Aclose(found);
  }
  H5Fclose(file);
}

}  // namespace
}  // namespace fd::io_test
