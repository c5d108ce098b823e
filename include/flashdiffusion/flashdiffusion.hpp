// FlashDiffusion: exact dense diffusion maps without the N × N kernel. This header is all a user includes.
#pragma once

#include <flashdiffusion/checkpoint.hpp>
#include <flashdiffusion/decode.hpp>
#include <flashdiffusion/error.hpp>
#include <flashdiffusion/estimate.hpp>
#include <flashdiffusion/fit.hpp>
#include <flashdiffusion/kernel_operator.hpp>
#include <flashdiffusion/kernel_product.hpp>
#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>
#include <flashdiffusion/precision.hpp>
#include <flashdiffusion/read_points.hpp>
#include <flashdiffusion/report.hpp>
#include <flashdiffusion/support.hpp>
#include <flashdiffusion/version.hpp>
