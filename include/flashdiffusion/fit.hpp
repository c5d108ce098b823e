// The main job: points in, diffusion map out.
#pragma once

#include <optional>

#include <flashdiffusion/comm.hpp>
#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

Model fit(PointsView points, const Options& options = {});
Model fit(PointSource& points, const Options& options = {});

// The same by all ranks of `comm` together, each with its share of the rows in its memory. Called on every rank; the points and options are rank 0's,
// which reads them and sends each rank its rows: those of the others are not looked at, and may be empty. The model is on rank 0, nothing elsewhere;
// an error is thrown on every rank.
std::optional<Model> fit(PointSource& points, const Options& options, Comm& comm);
std::optional<Model> fit(PointsView points, const Options& options, Comm& comm);

}  // namespace fd
