// Points in HDF5 and AnnData files: types, layouts, choice of the dataset, damage.
#include <hdf5.h>

#include "io/open_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class IoHdf5 : public TemporaryFolder {
 protected:
  // Adds dataset `name` with the numbers 0, 1, 2, … stored as `type`; `chunk` rows a chunk and deflated where not zero.
  void add(const std::string& file, const std::string& name, const std::vector<hsize_t>& shape, hid_t type, hsize_t chunk = 0) {
    const std::string where = path(file);
    const hid_t out = std::filesystem::exists(where) ? H5Fopen(where.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                                     : H5Fcreate(where.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    std::size_t count = 1;
    for (const hsize_t extent : shape) count *= extent;
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (chunk > 0) {
      std::vector<hsize_t> extents = shape;
      extents[0] = chunk;
      H5Pset_chunk(creation, static_cast<int>(extents.size()), extents.data());
      H5Pset_deflate(creation, 1);
    }
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t dataset = H5Dcreate2(out, name.c_str(), type, space, links, creation, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(links);
    H5Fclose(out);
  }
  void counts(PointSource& source, std::size_t rows, std::size_t columns) {
    ASSERT_EQ(source.rows(), rows);
    ASSERT_EQ(source.dimension(), columns);
    const auto values = all_of(source);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
  }
};

TEST_F(IoHdf5, EveryType) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  struct Case {
    hid_t type;
    bool exact;
  };
  const std::vector<Case> cases = {{H5T_IEEE_F32LE, true}, {H5T_IEEE_F64BE, false}, {H5T_STD_I8LE, true}, {H5T_STD_U16BE, true},
                                   {H5T_STD_I32LE, false}, {H5T_STD_U64BE, false},  {half, true}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string name = "x" + std::to_string(i) + ".h5";
    add(name, "/points", {4, 3}, cases[i].type);
    const auto source = open_points({path(name)});
    counts(*source, 4, 3);
    EXPECT_EQ(source->exact_in_float(), cases[i].exact);
  }
  H5Tclose(half);
}

TEST_F(IoHdf5, Booleans) {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE);
  const std::int8_t no = 0, yes = 1, stored[4] = {0, 1, 1, 0};
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  const hsize_t shape[2] = {2, 2};
  const hid_t file = H5Fcreate(path("x.h5").c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT),
              space = H5Screate_simple(2, shape, nullptr);
  const hid_t dataset = H5Dcreate2(file, "flags", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Fclose(file);
  H5Tclose(type);
  EXPECT_EQ(all_of(*open_points({path("x.h5")})), (std::vector<double>{0, 1, 1, 0}));
}

TEST_F(IoHdf5, ChunkedAndInPieces) {
  add("x.hdf5", "/a/b/points", {5000, 70}, H5T_IEEE_F32LE, 1024);
  const auto source = open_points({path("x.hdf5") + ":/a/b/points"});
  counts(*source, 5000, 70);
  std::vector<double> part(70 * 2000);
  source->read(2500, 2000, part.data());
  for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], static_cast<double>(2500 * 70 + i));
}

TEST_F(IoHdf5, ChoiceOfTheDataset) {
  add("x.h5", "/group/table", {4, 3}, H5T_IEEE_F32LE);
  add("x.h5", "/labels", {4}, H5T_STD_I32LE);
  add("x.h5", "/cube", {2, 2, 2}, H5T_STD_I32LE);
  counts(*open_points({path("x.h5")}), 4, 3);
  counts(*open_points({path("x.h5") + ":group/table"}), 4, 3);
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.h5") + ":/labels"}); }), "reshape(-1, 1)"));
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.h5") + ":/cube"}); }), "(2, 2, 2)"));
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.h5") + ":/group"}); }), "is a group"));
  add("x.h5", "/more", {2, 3}, H5T_STD_I32LE);
  Error error = error_of([&] { open_points({path("x.h5")}); });
  EXPECT_EQ(error.kind(), Failure::input);
  EXPECT_TRUE(says(error, "/group/table (4, 3), /more (2, 3)"));
  EXPECT_TRUE(says(error, path("x.h5") + ":/group/table"));
  error = error_of([&] { open_points({path("x.h5") + ":/none/there"}); });
  EXPECT_TRUE(says(error, "no dataset /none/there"));
  EXPECT_TRUE(says(error, "/more (2, 3)"));
  add("labels.h5", "/labels", {4}, H5T_STD_I32LE);
  EXPECT_TRUE(says(error_of([&] { open_points({path("labels.h5")}); }), "no two-dimensional dataset"));
  ReadOptions options;
  options.vectors = true;
  counts(*open_points({path("labels.h5")}, options), 4, 1);
  counts(*open_points({path("x.h5") + ":/labels"}, options), 4, 1);
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.h5") + ":/cube"}, options); }), "(2, 2, 2)"));
}

TEST_F(IoHdf5, NamesBesideATableAreThoseOfItsRows) {
  add("x.h5", "/coordinates", {4, 3}, H5T_IEEE_F32LE);
  add("x.h5", "/names", {4}, H5T_STD_I32LE);
  EXPECT_EQ(open_points({path("x.h5") + ":/coordinates"})->row_names(), (std::vector<std::string>{"0", "1", "2", "3"}));
  add("x.h5", "/others", {5, 3}, H5T_IEEE_F32LE);
  EXPECT_TRUE(open_points({path("x.h5") + ":/others"})->row_names().empty());
  add("x.h5", "/g/table", {4, 3}, H5T_IEEE_F32LE);
  EXPECT_EQ(open_points({path("x.h5") + ":/g/table"})->row_names().size(), 4u) << "those at the root";
  add("g.h5", "/g/table", {3, 3}, H5T_IEEE_F32LE);
  add("g.h5", "/g/names", {3}, H5T_STD_I32LE);
  add("g.h5", "/names", {3}, H5T_STD_I64LE);
  const auto beside = open_points({path("g.h5") + ":/g/table"});
  EXPECT_EQ(beside->row_names().size(), 3u);
  EXPECT_NE(beside->notes().back().find("/g/names"), std::string::npos);
  add("lost.h5", "/table", {6, 2}, H5T_IEEE_F32LE);
  add("lost.h5", "/names", {5}, H5T_STD_I32LE);
  EXPECT_TRUE(says(error_of([&] { open_points({path("lost.h5")}); }), "/table has 6 rows and /names 5 names"));
}

TEST_F(IoHdf5, AnnData) {
  add("dense.h5ad", "/X", {4, 6}, H5T_IEEE_F32LE);
  add("dense.h5ad", "/layers/raw", {4, 6}, H5T_IEEE_F32LE);
  counts(*open_points({path("dense.h5ad")}), 4, 6);
  add("dense.h5ad", "/obsm/X_pca", {4, 2}, H5T_IEEE_F32LE);
  counts(*open_points({path("dense.h5ad")}), 4, 2);
  EXPECT_NE(open_points({path("dense.h5ad")})->notes()[0].find("/obsm/X_pca was taken"), std::string::npos);
  EXPECT_TRUE(open_points({path("dense.h5ad") + ":/X"})->notes().empty());
}

TEST_F(IoHdf5, TextIsRefused) {
  const hsize_t shape[2] = {1, 1};
  const hid_t file = H5Fcreate(path("x.h5").c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT),
              space = H5Screate_simple(2, shape, nullptr);
  const hid_t dataset = H5Dcreate2(file, "words", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Fclose(file);
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.h5") + ":words"}); }), "does not hold real numbers"));
}

TEST_F(IoHdf5, EveryPrefix) {
  add("x.h5", "/points", {4, 3}, H5T_IEEE_F32LE);
  const std::string whole = get("x.h5");
  ::testing::internal::CaptureStderr();
  std::size_t right = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      counts(*open_points({put("cut.h5", whole.substr(0, length))}), 4, 3);
      ++right;
    } catch (const Error&) {
    }
  }
  EXPECT_GE(right, 1u);                                     // the whole file
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");  // HDF5 does not print
  EXPECT_TRUE(says(error_of([&] { open_points({put("words.h5", "words")}); }), "not an HDF5 file"));
  EXPECT_TRUE(says(error_of([&] { open_points({put("empty.h5", "")}); }), "is empty"));
  std::filesystem::copy(path("x.h5"), path("by-its-first-bytes"));
  counts(*open_points({path("by-its-first-bytes")}), 4, 3);
}

}  // namespace
}  // namespace fd::io_test
