// The shipped kernels beside the same main loops in CuTe (cross.cu), on whatever driver is here. The software GPU was written by those who wrote the kernels,
// and would agree with a wrong idea of who holds which entry of a matrix; CuTe's are NVIDIA's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <Eigen/Core>

#include "backends/cuda/device.hpp"
#include "base/random.hpp"
#include "device/backend.hpp"
#include "kernel/gaussian.hpp"

namespace fd::test {
namespace {

constexpr std::size_t rows = 192, dimension = 32, width = 8;  // three tiles of 64, so that both stages are used

std::vector<double> normal(std::size_t count, double scale, std::uint64_t stream) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>(scale * Random(3, stream).normal(i));
  return v;
}

// A number as two 16-bit floats, high + 2^-11 low, high a multiple of 1 / grid.
struct Halves {
  Eigen::half high, low;
  double value() const {
    return static_cast<double>(static_cast<float>(high)) + 0x1p-11 * static_cast<double>(static_cast<float>(low));
  }
};
Halves halves(double v, double grid) {
  Halves h;
  h.high = Eigen::half(static_cast<float>(std::rint(v * grid) / grid));
  h.low = Eigen::half(static_cast<float>((v - static_cast<double>(static_cast<float>(h.high))) * 2048));
  return h;
}

// Kernels of cross.cu on the first device.
class Cute : public testing::Test {
 protected:
  void SetUp() override {
    std::ostringstream text;
    text << std::ifstream(FD_CUTE_PTX).rdbuf();
    device->use();
    device->check(device->driver().load_module(&module, text.str().c_str()), "cuModuleLoadData");
  }
  void TearDown() override {
    device->drain();
    device->driver().unload_module(module);
  }
  template <class... Arguments>
  void launch(const char* name, unsigned blocks, unsigned threads, unsigned shared_bytes, Arguments... arguments) {
    cuda::FunctionHandle kernel = nullptr;
    device->check(device->driver().get_function(&kernel, module, name), name);
    void* pointers[] = {&arguments...};
    device->check(device->driver().launch(kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, device->stream(), pointers, nullptr),
                  name);
    device->synchronize();
  }
  template <class T>
  cuda::Buffer on_device(const std::vector<T>& values) {
    cuda::Buffer buffer(*device, values.size() * sizeof(T));
    device->copy_to_device(buffer.address(), values.data(), values.size() * sizeof(T));
    return buffer;
  }
  template <class T>
  std::vector<T> on_host(const cuda::Buffer& buffer, std::size_t count) {
    std::vector<T> values(count);
    device->copy_to_host(values.data(), buffer.address(), count * sizeof(T));
    device->synchronize();
    return values;
  }
  std::unique_ptr<cuda::Device> device = cuda::Device::open(-1);
  cuda::ModuleHandle module = nullptr;
};

// Rows of K W, the diagonal included: by CuTe, by the back-end, and in doubles.
TEST_F(Cute, TheFusedKernelComputesWhatCuTeDoes) {
  constexpr double beta = 0.7;
  const double scale = Gaussian::point_scale(beta);
  const std::vector<double> x = normal(rows * dimension, 0.4, 0), w = normal(rows * width, 1, 1);
  std::vector<Eigen::half> points(2 * rows * dimension), weights(2 * rows * width);
  std::vector<float> norms(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double square = 0;
    for (std::size_t c = 0; c < dimension; ++c) {
      const Halves h = halves(scale * x[i * dimension + c], 512);
      points[2 * i * dimension + c] = h.high, points[(2 * i + 1) * dimension + c] = h.low;
      square += h.value() * h.value();
    }
    norms[i] = static_cast<float>(square / 2);
    for (std::size_t c = 0; c < width; ++c) {
      const Halves h = halves(w[i * width + c], 0x1p9);
      weights[2 * i * width + c] = h.high, weights[(2 * i + 1) * width + c] = h.low;
    }
  }
  const cuda::Buffer on_points = on_device(points), on_weights = on_device(weights), on_norms = on_device(norms);
  const cuda::Buffer sums(*device, rows * width * sizeof(float)), bytes(*device, sizeof(int));
  launch("cute_halves_bytes", 1, 1, 0, bytes.address());
  launch("cute_halves", rows / 64, 128, static_cast<unsigned>(on_host<int>(bytes, 1)[0]), on_points.address(),
         on_weights.address(), on_norms.address(), sums.address(), static_cast<int>(rows));
  const std::vector<float> cute = on_host<float>(sums, rows * width);

  const auto backend = make_backend({"cuda", "", 1});
  ViewSource source(PointsView(x.data(), rows, dimension));
  const auto loaded = backend->load(source, Precision::fp32);
  const auto in = backend->panel(loaded->layout(), width, Precision::fp32),
             out = backend->panel(loaded->layout(), width, Precision::fp32);
  std::vector<double> ours(rows * width);
  backend->upload(w.data(), *in);
  backend->xgemm(beta, *loaded, *in, *out, nullptr);
  backend->download(*out, ours.data());

  const double promise = traits(Precision::fp32).row_error;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> sum(width, 0.0), size(width, 0.0);
    for (std::size_t j = 0; j < rows; ++j) {
      double square = 0;
      for (std::size_t c = 0; c < dimension; ++c) square += std::pow(x[i * dimension + c] - x[j * dimension + c], 2);
      for (std::size_t c = 0; c < width; ++c) {
        sum[c] += std::exp(-beta * square) * w[j * width + c];
        size[c] += std::exp(-beta * square) * std::abs(w[j * width + c]);
      }
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double by_cute = static_cast<double>(cute[i * width + c]), by_us = ours[i * width + c] + w[i * width + c];
      ASSERT_LE(std::abs(by_cute - sum[c]), promise * size[c]) << i << " " << c;
      ASSERT_LE(std::abs(by_us - by_cute), promise * size[c]) << i << " " << c;
    }
  }
}

// Fp64: entries that products of coordinates give, against those of CuTe's products.
TEST_F(Cute, ProductsOfDoublesAreThoseOfCuTe) {
  constexpr double beta = 0.7;
  constexpr std::size_t side = 64;
  const std::vector<double> x = normal(side * dimension, 0.4, 2), z = normal(side * dimension, 0.4, 3);
  const cuda::Buffer of_x = on_device(x), of_z = on_device(z), products(*device, side * side * sizeof(double));
  launch("cute_doubles", 1, 128, 0, of_x.address(), of_z.address(), products.address(), static_cast<int>(dimension));
  const std::vector<double> cute = on_host<double>(products, side * side);

  const auto backend = make_backend({"cuda", "", 1});
  ViewSource source_x(PointsView(x.data(), side, dimension)), source_z(PointsView(z.data(), side, dimension));
  const auto loaded_x = backend->load(source_x, Precision::fp64), loaded_z = backend->load(source_z, Precision::fp64);
  const auto in = backend->panel(loaded_z->layout(), side, Precision::fp64),
             out = backend->panel(loaded_x->layout(), side, Precision::fp64);
  std::vector<double> identity(side * side, 0.0), entries(side * side);
  for (std::size_t i = 0; i < side; ++i) identity[i * side + i] = 1;
  backend->upload(identity.data(), *in);
  backend->xgemm(beta, *loaded_x, *loaded_z, *in, *out, nullptr);
  backend->download(*out, entries.data());
  const auto square = [&](const std::vector<double>& points, std::size_t i) {
    double sum = 0;
    for (std::size_t c = 0; c < dimension; ++c) sum += points[i * dimension + c] * points[i * dimension + c];
    return sum;
  };
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      const double entry = std::exp(-beta * (square(x, i) + square(z, j) - 2 * cute[i * side + j]));
      ASSERT_NEAR(entries[i * side + j], entry, traits(Precision::fp64).row_error * entry) << i << " " << j;
    }
}

}  // namespace
}  // namespace fd::test
