// From a file of points to coordinates in a file, the way the program does it, small enough to be repeated thousands of times.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/fit.hpp>
#include <flashdiffusion/model.hpp>

#include "base/random.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"

namespace fd::faults {

inline constexpr std::size_t rows = 24, dimension = 2;

inline Table few_points() {
  Table points(rows, dimension, true);
  const Random random(5, 1);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c) points.set(i, c, random.normal(i * dimension + c));
  return points;
}

inline Options few_modes() {
  Options options;
  options.modes = 2;
  options.beta = 0.5;
  options.threads = 2;
  return options;
}

// points.npy -> model.h5 -> out.npy in `folder`; returns the coordinates.
inline std::vector<double> whole_run(const std::string& folder, const Options& options = few_modes()) {
  const auto points = open_points({folder + "/points.npy"});
  save_model(fit(*points, options), folder + "/model.h5");
  const Model model = load_model(folder + "/model.h5");
  const Table out = model.transform(*points, 1, options);
  write_table(out, folder + "/out.npy");
  std::vector<double> values;
  for (std::size_t i = 0; i < out.rows(); ++i)
    for (std::size_t c = 0; c < out.columns(); ++c) values.push_back(out(i, c));
  return values;
}

}  // namespace fd::faults
