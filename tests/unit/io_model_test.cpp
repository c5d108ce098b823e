// The model file: what was saved comes back, equal fits give equal bytes, and damage is an error.
#include <hdf5.h>
#include <sys/resource.h>

#include <cmath>

#include <flashdiffusion/model.hpp>

#include "io/write_table.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

Model sample(bool wide = false) {
  Model model;
  model.beta = 0.45;
  model.alpha = 0.25;
  model.n = 5;
  model.dimension = 3;
  model.precision = wide ? Precision::fp64 : Precision::fp32;
  model.converged = true;
  model.outcome = "all pairs converged · β fixed";
  model.perron = 1 - 1e-9;
  model.perron_residual = 3e-8;
  model.beta_exponent = 0.17;
  model.beta_exponent_error = 0.01;
  model.eigenvalues = {0.9, 0.5};
  model.residuals = {1e-6, 2e-6};
  model.psi = Table(5, 2, wide);
  model.points = Table(5, 3, wide);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 2; ++j) model.psi.set(i, j, 0.1 * static_cast<double>(i) - 0.7 * static_cast<double>(j));
    for (std::size_t j = 0; j < 3; ++j) model.points.set(i, j, static_cast<double>(i * 3 + j) / 7);
    model.q.push_back(1 + 0.1 * static_cast<double>(i));
    model.d.push_back(2 + 0.1 * static_cast<double>(i));
  }
  normalise(model);
  model.mean = {1e6, -2, 0.5};
  model.points_checksum = 0xfedcba9876543210u;
  Probe probe;
  probe.n = 1024;
  probe.precision = Precision::bf16;
  probe.beta = 0.1;
  probe.s_off = 12.5;
  probe.s_off_2beta = 6.25;
  probe.n_eff = 3;
  probe.d_hat = 2;
  probe.perron_gap = 0.1;
  probe.v_bias = 1;
  probe.v_stat = 2;
  probe.v_mach = 3;
  probe.v = 6;
  probe.localised = 1;
  probe.passes = 9;
  probe.seconds = 0.5;
  probe.outcome = "resolved";
  probe.eigenvalues = {0.9, 0.8, 0.7};
  model.sweep = {probe, probe};
  model.sweep[1].precision = Precision::fp32;
  model.sweep[1].outcome = "not converged";
  model.sweep[1].eigenvalues = {0.6};
  model.provenance = R"({"command": "fit", "machine": "ä"})";
  model.passes = 40;
  model.full_passes = 30;
  model.columns = 600;
  model.seconds = 1.25;
  model.peak_rss_bytes = 123456789;
  model.forecast_seconds = 2.5;
  model.forecast_passes = 31;
  model.least_seconds = 0.75;
  return model;
}

void expect_equal(const Table& a, const Table& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  EXPECT_EQ(a.wide(), b.wide());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) EXPECT_EQ(a(i, j), b(i, j));
}

void expect_equal(const Model& a, const Model& b, bool with_arrays = true) {
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.beta, b.beta);
  EXPECT_EQ(a.alpha, b.alpha);
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.dimension, b.dimension);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.converged, b.converged);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.perron, b.perron);
  EXPECT_EQ(a.perron_residual, b.perron_residual);
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  EXPECT_TRUE(same(a.beta_exponent, b.beta_exponent));
  EXPECT_TRUE(same(a.beta_exponent_error, b.beta_exponent_error));
  EXPECT_EQ(a.eigenvalues, b.eigenvalues);
  EXPECT_EQ(a.residuals, b.residuals);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.points_checksum, b.points_checksum);
  EXPECT_EQ(a.provenance, b.provenance);
  EXPECT_EQ(a.passes, b.passes);
  EXPECT_EQ(a.full_passes, b.full_passes);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.peak_rss_bytes, b.peak_rss_bytes);
  EXPECT_EQ(a.forecast_seconds, b.forecast_seconds);
  EXPECT_EQ(a.forecast_passes, b.forecast_passes);
  EXPECT_EQ(a.least_seconds, b.least_seconds);
  ASSERT_EQ(a.sweep.size(), b.sweep.size());
  for (std::size_t i = 0; i < a.sweep.size(); ++i) {
    const Probe &p = a.sweep[i], &q = b.sweep[i];
    EXPECT_EQ(p.n, q.n);
    EXPECT_EQ(p.precision, q.precision);
    EXPECT_EQ((std::vector<double>{p.beta, p.s_off, p.s_off_2beta, p.n_eff, p.d_hat, p.perron_gap, p.v_bias, p.v_stat, p.v_mach,
                                   p.v, p.seconds}),
              (std::vector<double>{q.beta, q.s_off, q.s_off_2beta, q.n_eff, q.d_hat, q.perron_gap, q.v_bias, q.v_stat, q.v_mach,
                                   q.v, q.seconds}));
    EXPECT_EQ(p.localised, q.localised);
    EXPECT_EQ(p.passes, q.passes);
    EXPECT_EQ(p.outcome, q.outcome);
    EXPECT_EQ(p.eigenvalues, q.eigenvalues);
  }
  if (!with_arrays) return;
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.d, b.d);
  expect_equal(a.psi, b.psi);
  expect_equal(a.points, b.points);
}

class IoModel : public TemporaryFolder {};

TEST_F(IoModel, ComesBack) {
  for (const bool wide : {false, true}) {
    const Model model = sample(wide);
    save_model(model, path("model.h5"));
    expect_equal(load_model(path("model.h5")), model);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(IoModel, WithoutArrays) {
  save_model(sample(), path("model.h5"));
  const Model model = load_model(path("model.h5"), false);
  expect_equal(model, sample(), false);
  EXPECT_TRUE(model.psi.empty() && model.points.empty() && model.q.empty() && model.d.empty());
}

TEST_F(IoModel, WithoutPointsSweepAndText) {
  Model model = sample();
  model.points = Table();
  model.sweep.clear();
  model.outcome.clear();
  model.provenance.clear();
  save_model(model, path("model.h5"));
  const Model back = load_model(path("model.h5"));
  expect_equal(back, model);
  EXPECT_TRUE(back.points.empty());
  // What could not be loaded again is not saved.
  EXPECT_EQ(error_of([&] { save_model(Model(), path("empty.h5")); }).kind(), Failure::misuse);
}

TEST_F(IoModel, ContractNames) {
  save_model(sample(), path("model.h5"));
  const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const char* name : {"format", "format_version", "kernel", "beta", "alpha", "n", "dimension", "modes", "precision",
                           "converged", "perron", "perron_residual", "outcome", "passes", "full_passes", "columns"})
    EXPECT_GT(H5Aexists(file, name), 0) << name;
  for (const char* name : {"/eigenvalues",
                           "/residuals",
                           "/psi",
                           "/q",
                           "/d",
                           "/points",
                           "/mean",
                           "/provenance",
                           "/sweep/n",
                           "/sweep/precision",
                           "/sweep/beta",
                           "/sweep/s_off",
                           "/sweep/s_off_2beta",
                           "/sweep/n_eff",
                           "/sweep/d_hat",
                           "/sweep/perron_gap",
                           "/sweep/v_bias",
                           "/sweep/v_stat",
                           "/sweep/v_mach",
                           "/sweep/v",
                           "/sweep/passes",
                           "/sweep/seconds",
                           "/sweep/outcome",
                           "/sweep/localised",
                           "/sweep/eigenvalues"})
    EXPECT_GT(H5Lexists(file, name, H5P_DEFAULT), 0) << name;
  const hid_t psi = H5Dopen2(file, "/psi", H5P_DEFAULT), creation = H5Dget_create_plist(psi), type = H5Dget_type(psi);
  EXPECT_EQ(H5Pget_layout(creation), H5D_CONTIGUOUS);
  EXPECT_GT(H5Tequal(type, H5T_IEEE_F32LE), 0);
  H5Tclose(type);
  H5Pclose(creation);
  H5Dclose(psi);
  EXPECT_GT(H5Aexists_by_name(file, "/provenance", "seconds", H5P_DEFAULT), 0);
  EXPECT_GT(H5Aexists_by_name(file, "/provenance", "peak_rss_bytes", H5P_DEFAULT), 0);
  H5Fclose(file);
}

TEST_F(IoModel, EqualModelsGiveEqualBytes) {
  Model model = sample();
  save_model(model, path("a.h5"));
  ::usleep(1100000);  // a time stamp of whole seconds would show
  save_model(model, path("b.h5"));
  EXPECT_EQ(get("a.h5"), get("b.h5"));
  // What the clock decides changes its own bytes: 8 each, a checksum of 4 where it stands in a header, 8 digits in the seal.
  model.seconds = 99;
  model.peak_rss_bytes = 1;
  model.sweep[0].seconds = 17;
  save_model(model, path("c.h5"));
  const std::string a = get("a.h5"), c = get("c.h5");
  ASSERT_EQ(a.size(), c.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != c[i];
  EXPECT_GT(different, 0u);
  EXPECT_LE(different, 3u * 8 + 4 + 8);
}

TEST_F(IoModel, EveryPrefixIsRefused) {
  save_model(sample(), path("model.h5"));
  const std::string whole = get("model.h5").substr(0, get("model.h5").rfind("\nflashdiffusion seal"));
  ::testing::internal::CaptureStderr();
  for (std::size_t length = 0; length < whole.size(); length += length < 64 ? 1 : 97) {
    const Error error = error_of([&] { load_model(put("cut.h5", whole.substr(0, length))); });
    ASSERT_EQ(error.kind(), Failure::input) << length;
  }
  EXPECT_TRUE(says(error_of([&] { load_model(put("cut.h5", whole.substr(0, whole.size() / 2))); }), "cut short"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(IoModel, WhatIsNotAModel) {
  EXPECT_EQ(error_of([&] { load_model(path("none.h5")); }).kind(), Failure::io);
  EXPECT_EQ(error_of([&] { load_model(folder_.string()); }).kind(), Failure::io);
  EXPECT_TRUE(says(error_of([&] { load_model(put("words.h5", "words, not a model")); }), "not an HDF5 file"));
  EXPECT_TRUE(says(error_of([&] { load_model(put("nothing.h5", "")); }), "is empty"));
  H5Fclose(H5Fcreate(path("other.h5").c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_TRUE(says(error_of([&] { load_model(path("other.h5")); }), "is not a flashdiffusion model"));
}

TEST_F(IoModel, NewerVersion) {
  save_model(sample(), path("model.h5"));
  const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
              version = H5Aopen(file, "format_version", H5P_DEFAULT);
  const std::int64_t newer = 2;
  H5Awrite(version, H5T_NATIVE_INT64, &newer);
  H5Aclose(version);
  H5Fclose(file);
  const Error error = error_of([&] { load_model(path("model.h5")); });
  EXPECT_EQ(error.kind(), Failure::input);
  EXPECT_TRUE(says(error, "newer flashdiffusion (format 2"));
  EXPECT_TRUE(says(error, "update"));
}

TEST_F(IoModel, MissingAndContradictoryParts) {
  for (const char* name :
       {"/psi", "/q", "/d", "/mean", "/eigenvalues", "/residuals", "/sweep/n", "/sweep/outcome", "/provenance"}) {
    save_model(sample(), path("model.h5"));
    const hid_t file = H5Fopen(path("model.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Fclose(file);
    EXPECT_TRUE(says(error_of([&] { load_model(path("model.h5")); }), name));
  }
  Model wrong = sample();
  wrong.q.pop_back();
  EXPECT_EQ(error_of([&] { save_model(wrong, path("wrong.h5")); }).kind(), Failure::misuse);
  EXPECT_FALSE(std::filesystem::exists(path("wrong.h5")));
}

// The limit on file sizes stands for a full disk: both are met by the reservation before anything is written.
TEST_F(IoModel, NoRoomLeavesNothing) {
  Model model = sample();
  model.n = 100000;
  model.psi = Table(model.n, 2, true);
  model.points = Table();
  model.q.assign(model.n, 1);
  model.d.assign(model.n, 1);
  put("model.h5", "the old one");
  rlimit kept = {};
  ::getrlimit(RLIMIT_FSIZE, &kept);
  const rlimit small = {1 << 20, kept.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Error model_error = error_of([&] { save_model(model, path("model.h5")); });
  const Error table_error = error_of([&] { write_table(model.psi, path("psi.npy")); });
  ::setrlimit(RLIMIT_FSIZE, &kept);
  EXPECT_EQ(model_error.kind(), Failure::io);
  EXPECT_EQ(table_error.kind(), Failure::io);
  EXPECT_TRUE(says(model_error, "File too large"));
  EXPECT_EQ(get("model.h5"), "the old one");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace fd::io_test
