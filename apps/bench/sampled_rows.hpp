// Some rows of a file of points, for benchmarks that cannot afford all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <flashdiffusion/read_points.hpp>

namespace fd::cli {

// Opens a file; an interrupt ends the program while it is opened, and stops reading afterwards.
std::unique_ptr<PointSource> open_interruptible(const std::string& name, const ReadOptions& options = {});

// At most `most` of `rows` row numbers, drawn at random and ascending: the same on every machine. 0: all.
std::vector<std::size_t> random_rows(std::size_t rows, std::size_t most);

Table read_rows(PointSource& source, const std::vector<std::size_t>& rows, bool wide);

}  // namespace fd::cli
