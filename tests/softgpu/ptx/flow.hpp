// Where lanes that part at a branch meet again.
//
// Guarantees: `meet` of every branch of [begin, end) is its immediate post-dominator, the first instruction that every way from the branch
// to the function's end passes; `nowhere` if only the end itself is such a place. Holds for any control flow, whatever its layout.
#pragma once
#include "ptx/program.hpp"

namespace softgpu {

void find_meeting_points(Module& module, const Function& function);

}  // namespace softgpu
