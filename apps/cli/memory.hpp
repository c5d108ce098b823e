// How much memory a fit takes: an estimate from its sizes alone, for people who plan one.
#pragma once

#include <cstddef>

#include <flashdiffusion/options.hpp>

namespace fd::cli {

double fit_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options);

}  // namespace fd::cli
