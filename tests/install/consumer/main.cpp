// A user's program: fits a noisy circle through the installed library, and checks what a user would rely on.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

#include <flashdiffusion/flashdiffusion.hpp>

namespace {

int failures = 0;

void expect(bool held, const char* what) {
  if (held) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

}  // namespace

int main() {
  constexpr std::size_t n = 300, dimension = 3;
  std::vector<float> data(n * dimension);
  for (std::size_t i = 0; i < n; ++i) {
    // Golden-ratio steps cover the circle evenly without being symmetric; the third column is a small wave.
    const double angle = 2 * std::numbers::pi * std::fmod(0.6180339887498949 * static_cast<double>(i), 1.0);
    data[i * dimension + 0] = static_cast<float>(std::cos(angle));
    data[i * dimension + 1] = static_cast<float>(std::sin(angle));
    data[i * dimension + 2] = static_cast<float>(0.1 * std::sin(3 * angle));
  }

  fd::Options options;
  options.modes = 4;
  options.beta = 4.0;
  const fd::Model model = fd::fit(fd::PointsView{data.data(), n, dimension}, options);
  expect(model.converged, "converged");
  expect(model.eigenvalues.size() == 4, "four eigenvalues");
  for (std::size_t j = 0; j < model.eigenvalues.size(); ++j) {
    expect(model.eigenvalues[j] > 0 && model.eigenvalues[j] < 1, "eigenvalues of a connected set lie in (0, 1)");
    expect(j == 0 || model.eigenvalues[j] <= model.eigenvalues[j - 1], "eigenvalues descend");
  }

  // P psi = lambda psi: extending the model to its own rows returns its own coordinates. psi carries the residual of the solver
  // (options.tolerance) divided by sqrt(pi), which on an even circle is sqrt(n) at most.
  const std::vector<float> coordinates = model.transform(fd::PointsView{data.data(), n, dimension});
  expect(coordinates.size() == n * model.modes(), "a row of coordinates a point");
  const fd::Table own = model.embedding();
  const double bound = 2 * options.tolerance * std::sqrt(static_cast<double>(n));
  double worst = 0;
  for (std::size_t i = 0; i < n && coordinates.size() == n * model.modes(); ++i)
    for (std::size_t j = 0; j < model.modes(); ++j)
      worst = std::fmax(worst, std::fabs(coordinates[i * model.modes() + j] - own(i, j)));
  expect(worst <= bound, "transform returns the training coordinates");

  // Files are read through the public headers too, names and all.
  {
    std::ofstream file("consumer-points.csv");
    file << "point,x,y,z\n";
    for (std::size_t i = 0; i < n; ++i)
      file << "p" << i << "," << data[3 * i] << "," << data[3 * i + 1] << "," << data[3 * i + 2] << "\n";
  }
  const auto source = fd::open_points({"consumer-points.csv"});
  const fd::Model named = fd::fit(*source, options);
  expect(source->rows() == n && source->dimension() == dimension, "the file has the points");
  expect(named.names.size() == n && named.names[7] == "p7", "the model has the names of its rows");
  expect(!source->notes().empty(), "what the file was taken for is said");
  std::remove("consumer-points.csv");

  bool refused = false;
  try {
    options.beta = -1;
    fd::fit(fd::PointsView{data.data(), n, dimension}, options);
  } catch (const fd::Error& error) {
    refused = error.kind() == fd::Failure::misuse;
  }
  expect(refused, "a negative bandwidth is misuse");

  std::printf("lambda_1 = %.6f, transform differs by %.2e (bound %.2e), %d failures\n",
              model.eigenvalues.empty() ? 0.0 : model.eigenvalues[0], worst, bound, failures);
  return failures == 0 ? 0 : 1;
}
