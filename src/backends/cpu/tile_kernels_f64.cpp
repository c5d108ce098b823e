// The tile kernels in f64, for every instruction set.
#include "backends/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tile_kernels_f64.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "backends/cpu/tile_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
const TileKernels<double>* table_f64() { return kernels<double>(); }
}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fd::cpu {
HWY_EXPORT(table_f64);
const TileKernels<double>* chosen_kernels(const double*) { return HWY_DYNAMIC_DISPATCH(table_f64)(); }
}  // namespace fd::cpu
#endif
