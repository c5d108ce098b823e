// The tile kernels in f32, for every instruction set.
#include "backends/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tile_kernels_f32.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "backends/cpu/tile_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
const TileKernels<float>* table_f32() { return kernels<float>(); }
}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fd::cpu {
const TileKernels<float>* kernels_of(long long target, const float*) { return FD_OF_TARGET(table_f32, target)(); }
}  // namespace fd::cpu
#endif
