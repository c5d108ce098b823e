// Which instruction sets are compiled. To be included before anything of Highway's.
#pragma once

// SSSE3 machines are served by the scalar code; AVX3_DL adds nothing the kernels use.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
