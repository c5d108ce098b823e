// Which instruction sets are compiled. To be included before anything of Highway's.
#pragma once

// SSSE3 machines are served by the scalar code. AVX3_DL multiplies and adds pairs of 16-bit numbers in one instruction.
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS HWY_SSSE3
