// Tables whose columns depend on each other (distances that stand there twice, redundant encodings) have fewer dimensions than columns. Turned
// into a basis of their own span, rows keep all distances, and a pass costs what their rank asks for.
#pragma once

#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

#include "fit/centred_source.hpp"

namespace fd {

// Sets summary.basis where all rows lie, to rounding in fp64, in a subspace of at most four fifths of the columns in every direction of which they
// clearly differ. Looked for where it pays and no digit is lost: not in fp64, from 24 columns on, and from 128 on only where there are so many
// rows that looking is cheap. A function of the table and the precision alone.
void reduce_to_rank(PointSource& source, PointSummary& summary, const std::vector<Precision>& precision, std::uint64_t seed);

}  // namespace fd
