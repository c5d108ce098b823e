#include "fit/check_options.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

namespace fd {

void check_options(const Options& options, std::size_t rows) {
  const auto refuse = [](const std::string& what, const std::string& hint) { throw Error(Failure::misuse, what, hint); };
  if (options.modes == 0) refuse("the number of modes must be at least 1", "use --modes 8, say");
  if (!(options.alpha >= 0 && options.alpha <= 1))
    refuse(fmt::format("alpha = {} is outside [0, 1]", options.alpha), "0, 0.5 and 1 are usual");
  if (options.beta && !(*options.beta > 0 && std::isfinite(*options.beta)))
    refuse(fmt::format("beta = {} is not a positive number", *options.beta), "leave it out to let the data choose");
  if (!(options.trim >= 0 && options.trim < 0.5))
    refuse(fmt::format("trim = {} is outside [0, 0.5)", options.trim), "0.01 leaves one row in a hundred out");
  if (!(options.tolerance > 0))
    refuse(fmt::format("tolerance = {} is not a positive number", options.tolerance), "1e-5 is the default");
  if (options.precision.empty()) refuse("no precision was given", "use fp32");
  if (rows < 3) throw Error(Failure::input, fmt::format("{} points are too few", rows), "a diffusion map needs at least 3");
  if (options.modes >= rows)
    refuse(fmt::format("{} modes were asked for, but {} points have at most {} nontrivial ones", options.modes, rows, rows - 1),
           "ask for fewer modes");
}

}  // namespace fd
