// The main job: points in, diffusion map out.
#pragma once

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

Model fit(PointsView points, const Options& options = {});
Model fit(PointSource& points, const Options& options = {});

}  // namespace fd
