// The rows of a source that lack no value: those with a NaN or an infinite value are left out. One reading of the source finds them. Every row that stays has a
// name, its own or else the number it had, counted from 1, so that results can be laid beside the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

// The source itself where nothing is missing. Throws Error(input) where every row lacks something.
std::unique_ptr<PointSource> without_missing(std::unique_ptr<PointSource> source);

// How many rows were left out, by such a note among those of a model's provenance.
std::size_t rows_left_out(const std::string& provenance);

}  // namespace fd
