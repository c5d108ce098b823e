// Which instruction sets are compiled. To be included before anything of Highway's.
#pragma once

// SSSE3 machines are served by the scalar code. AVX3_DL multiplies and adds pairs of 16-bit numbers in one instruction.
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS HWY_SSSE3

// A function as it was compiled for one target, which must be among HWY_TARGETS. Highway's own dispatch chooses for the whole
// process.
#define FD_OF_TARGET(function, target)                    \
  ((target) == HWY_AVX3_DL ? HWY_CHOOSE_AVX3_DL(function) \
   : (target) == HWY_AVX3  ? HWY_CHOOSE_AVX3(function)    \
   : (target) == HWY_AVX2  ? HWY_CHOOSE_AVX2(function)    \
   : (target) == HWY_SSE4  ? HWY_CHOOSE_SSE4(function)    \
   : (target) == HWY_NEON  ? HWY_CHOOSE_NEON(function)    \
                           : HWY_CHOOSE_FALLBACK(function))
