// Tables whose columns depend on each other (distances that stand there twice, redundant encodings) have fewer dimensions than columns. Turned
// into a basis of their own span, rows keep all distances, and a pass costs what their rank asks for.
#pragma once

#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

#include "fit/centred_source.hpp"

namespace fd {

// Sets summary.basis where all rows lie in a subspace of at most four fifths of the columns, to a millionth of their extent (a billionth for
// fp64): beta times the squared distance that is lost is then far below the precision. Looked for where it pays: from 24 columns on, and from
// 128 on only where there are so many rows that looking is cheap. A function of the table and the precision alone.
void reduce_to_rank(PointSource& source, PointSummary& summary, const std::vector<Precision>& precision, std::uint64_t seed);

}  // namespace fd
