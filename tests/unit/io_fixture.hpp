// A folder of its own for each test that touches files, and the bytes of a .npy made by hand (not by the code under test).
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/model.hpp>
#include <flashdiffusion/points.hpp>

namespace fd::io_test {

class TemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("flashdiffusion-") + info->test_suite_name() + "-" + info->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string put(const std::string& name, const std::string& content) const {
    std::filesystem::remove(path(name));  // some file systems flush a file that is overwritten, which is slow
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

inline std::string npy_bytes(const std::string& description, const std::string& data, int major = 1) {
  std::string header = description + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte) bytes += static_cast<char>(header.size() >> (8 * byte) & 255);
  return bytes + header + data;
}

inline std::string npy_description(const std::string& descriptor, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descriptor + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string raw(std::vector<T> values, bool big_endian = false) {
  std::string bytes;
  for (const T& value : values) {
    std::string one(reinterpret_cast<const char*>(&value), sizeof(T));
    bytes += big_endian ? std::string(one.rbegin(), one.rend()) : one;
  }
  return bytes;
}

// As a fit leaves it: sum_i pi_i psi_i^2 = 1.
inline void normalise(Model& model) {
  const double total = std::accumulate(model.d.begin(), model.d.end(), 0.0);
  for (std::size_t j = 0; j < model.modes(); ++j) {
    double norm = 0;
    for (std::size_t i = 0; i < model.n; ++i) norm += model.d[i] / total * model.psi(i, j) * model.psi(i, j);
    for (std::size_t i = 0; i < model.n; ++i) model.psi.set(i, j, model.psi(i, j) / std::sqrt(norm));
  }
}

inline std::vector<double> all_of(PointSource& source) {
  std::vector<double> values(source.rows() * source.dimension());
  source.read(0, source.rows(), values.data());
  return values;
}

// The error that `action` throws; its message, hint and kind are what the user gets.
template <class F>
Error error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(Failure::misuse, "");
}

inline ::testing::AssertionResult says(const Error& error, const std::string& words) {
  if (std::string(error.what()).find(words) != std::string::npos || error.hint().find(words) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << words << "\" is not in: " << error.what() << " | " << error.hint();
}

}  // namespace fd::io_test
