// Sparse matrices in HDF5, as AnnData writes them: by rows and by columns, names of observations, and parts that contradict each other.
#include <hdf5.h>

#include <functional>

#include "io/open_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

// The table 0 1 0 / 2 0 3.5 / 0 0 0 / 4 0 0, and a sum of two entries at its first place.
const std::vector<double> dense = {0, 1, 0, 2, 0, 3.5, 0, 0, 0, 4, 0, 0};

struct Matrix {
  std::string format = "csr_matrix";
  std::vector<double> data = {1, 2, 3, 0.5, 4};
  std::vector<std::int64_t> indices = {1, 0, 2, 2, 0}, indptr = {0, 1, 4, 4, 5}, shape = {4, 3};
  std::vector<std::string> names = {"a", "b", "c", "ä"};
};

Matrix by_columns() {
  Matrix matrix;
  matrix.format = "csc_matrix";
  matrix.data = {2, 4, 1, 3, 0.5};
  matrix.indices = {1, 3, 0, 1, 1};
  matrix.indptr = {0, 2, 3, 5};
  return matrix;
}

class IoSparse : public TemporaryFolder {
 protected:
  static void column(hid_t file, const char* name, hid_t type, const void* values, hsize_t count) {
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Sclose(space);
  }
  static void text_attribute(hid_t group, const char* name, const char* value) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, &value);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }
  std::string write(const std::string& name, const Matrix& matrix) {
    const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "/X", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    text_attribute(group, "encoding-type", matrix.format.c_str());
    const hsize_t two = matrix.shape.size();
    const hid_t space = H5Screate_simple(1, &two, nullptr);
    const hid_t shape = H5Acreate2(group, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(shape, H5T_NATIVE_INT64, matrix.shape.data());
    H5Aclose(shape);
    H5Sclose(space);
    H5Gclose(group);
    column(file, "/X/data", H5T_NATIVE_DOUBLE, matrix.data.data(), matrix.data.size());
    column(file, "/X/indices", H5T_NATIVE_INT64, matrix.indices.data(), matrix.indices.size());
    column(file, "/X/indptr", H5T_NATIVE_INT64, matrix.indptr.data(), matrix.indptr.size());
    if (!matrix.names.empty()) {
      for (const char* frame : {"/obs", "/var"}) {
        const hid_t group = H5Gcreate2(file, frame, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        text_attribute(group, "_index", frame[1] == 'o' ? "barcode" : "gene");
        H5Gclose(group);
      }
      const std::vector<std::int64_t> genes = {7, 8, 9};
      column(file, "/var/gene", H5T_NATIVE_INT64, genes.data(), genes.size());
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      std::vector<const char*> texts;
      for (const std::string& text : matrix.names) texts.push_back(text.c_str());
      column(file, "/obs/barcode", type, texts.data(), texts.size());
      H5Tclose(type);
    }
    H5Fclose(file);
    return path(name);
  }
  // What is said of a matrix that `change` has damaged, when it is opened or read.
  Error damage(Matrix matrix, const std::function<void(Matrix&)>& change) {
    change(matrix);
    const std::string file = write("damaged.h5ad", matrix);
    return error_of([&] { all_of(*open_points({file})); });
  }
};

TEST_F(IoSparse, ByRowsAndByColumns) {
  for (const Matrix& matrix : {Matrix(), by_columns()}) {
    SCOPED_TRACE(matrix.format);
    const std::string file = write("x.h5ad", matrix);
    for (const std::string& name : {file, file + ":/X"}) {
      const auto source = open_points({name});
      EXPECT_EQ(source->rows(), 4u);
      EXPECT_EQ(all_of(*source), dense);
      EXPECT_EQ(source->row_names(), matrix.names);
      EXPECT_EQ(source->column_names(), (std::vector<std::string>{"7", "8", "9"}));
      std::vector<double> part(6, -1);
      source->read(1, 2, part.data());
      EXPECT_EQ(part, (std::vector<double>{2, 0, 3.5, 0, 0, 0}));
    }
    EXPECT_NE(open_points({file})->notes()[0].find("/X was taken"), std::string::npos);
  }
  EXPECT_NE(open_points({write("x.h5ad", by_columns())})->notes()[1].find("turned into rows in memory"), std::string::npos);
}

TEST_F(IoSparse, ManyEntries) {
  Matrix matrix;  // more entries than are read at a time
  const std::int64_t rows = 3000, columns = 200;
  matrix.data.clear();
  matrix.indices.clear();
  matrix.indptr = {0};
  matrix.names.clear();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i % 2; j < columns; j += 2) {
      matrix.data.push_back(static_cast<double>(i * columns + j));
      matrix.indices.push_back(j);
    }
    matrix.indptr.push_back(static_cast<std::int64_t>(matrix.data.size()));
  }
  matrix.shape = {rows, columns};
  const auto values = all_of(*open_points({write("x.h5ad", matrix)}));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(values[static_cast<std::size_t>(i * columns + j)], (i + j) % 2 == 0 ? static_cast<double>(i * columns + j) : 0.0);
}

TEST_F(IoSparse, PartsThatContradictEachOther) {
  for (const Matrix& matrix : {Matrix(), by_columns()}) {
    SCOPED_TRACE(matrix.format);
    const auto says_of = [&](const std::function<void(Matrix&)>& change, const std::string& words) {
      const Error error = damage(matrix, change);
      EXPECT_EQ(error.kind(), Failure::input);
      EXPECT_TRUE(says(error, words));
    };
    says_of([](Matrix& m) { m.indices[2] = 9; }, "an index of 9");
    says_of([](Matrix& m) { m.indices[2] = -1; }, "an index of -1");
    says_of([](Matrix& m) { m.indptr[1] = 6; }, "indptr");
    says_of([](Matrix& m) { m.indptr[1] = -1; }, "indptr");
    says_of([](Matrix& m) { m.indptr.back() = 4; }, "indptr");
    says_of([](Matrix& m) { m.indptr.back() = std::int64_t{1} << 60; }, "indptr");
    says_of([](Matrix& m) { m.indptr.front() = 1; }, "indptr");
    says_of([](Matrix& m) { m.indptr.pop_back(); }, "another length");
    says_of([](Matrix& m) { m.indices.pop_back(); }, "differ in length");
    says_of([](Matrix& m) { m.format = "coo"; }, "neither csr_matrix nor csc_matrix");
    says_of([](Matrix& m) { m.shape = {4, 3, 1}; }, "no shape");
    says_of([](Matrix& m) { m.names.pop_back(); }, "another length");
    for (const std::int64_t extent : {std::int64_t{1} << 40, std::int64_t{1} << 62, std::int64_t{-1}}) {
      EXPECT_EQ(damage(matrix, [&](Matrix& m) { m.shape[0] = extent; }).kind(), Failure::input) << extent;
      says_of([&](Matrix& m) { m.shape = {extent, extent}; }, "");
    }
  }
}

}  // namespace
}  // namespace fd::io_test
