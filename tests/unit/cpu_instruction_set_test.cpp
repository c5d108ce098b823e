// Every instruction set there is code for, and what is not here: the arithmetic it keeps low precision in.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <hwy/targets.h>

#include <flashdiffusion/error.hpp>

#include "backends/cpu/instruction_set.hpp"
#include "device/backend.hpp"
#include "support/datasets.hpp"

namespace fd::test {
namespace {

struct Known {
  const char* name;
  bool few_bits;  // tf32 is kept in 16-bit numbers, not in fp32
};

class InstructionSet : public testing::TestWithParam<Known> {
 protected:
  static std::vector<double> product(Precision precision) {
    const Dataset x = torus(200);
    const auto backend = make_backend({"cpu", GetParam().name, 1});
    ViewSource source(PointsView(x.x.data(), x.rows, x.dimension));
    const auto points = backend->load(source, precision);
    auto in = backend->panel(points->layout(), 1, precision), out = backend->panel(points->layout(), 1, precision);
    const std::vector<double> ones(x.rows, 1.0);
    std::vector<double> y(x.rows);
    backend->upload(ones.data(), *in);
    backend->xgemm(1.0, *points, *in, *out, nullptr);
    backend->download(*out, y.data());
    return y;
  }
};

TEST_P(InstructionSet, KeepsLowPrecisionInFewBitsWhereItCan) {
  const auto here = instruction_sets();
  if (std::find(here.begin(), here.end(), GetParam().name) == here.end())
    GTEST_SKIP() << "this processor does not have " << GetParam().name;
  const auto exact = product(Precision::fp32), low = product(Precision::tf32);
  EXPECT_EQ(exact != low, GetParam().few_bits);
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(low[i], exact[i], traits(Precision::tf32).row_error * exact[i]);
}

// Another library of the process may dispatch through Highway too: a back-end's choice is its own.
TEST(InstructionSets, ChoosingOneLeavesHighwaysOwnChoiceAlone) {
  const auto supported = hwy::SupportedTargets();
  const bool chosen = hwy::GetChosenTarget().IsInitialized();
  for (const std::string& isa : cpu::available_instruction_sets()) {
    const cpu::ChosenKernels kernels = cpu::choose_kernels(isa);
    EXPECT_EQ(kernels.isa, isa);
    EXPECT_EQ(hwy::GetChosenTarget().IsInitialized(), chosen) << isa;
    EXPECT_EQ(hwy::SupportedTargets(), supported) << isa;
  }
  EXPECT_THROW(cpu::choose_kernels("no such"), Error);
}

// Each name is the code that was compiled for it.
TEST(InstructionSets, WiderOnesHaveMoreLanes) {
  for (const auto& [isa, lanes] : {std::pair{"avx512vnni", 16u}, {"avx512", 16u}, {"avx2", 8u}, {"sse4", 4u}, {"neon", 4u}}) {
    const auto here = cpu::available_instruction_sets();
    if (std::find(here.begin(), here.end(), isa) == here.end()) continue;
    EXPECT_EQ(cpu::choose_kernels(isa).f32->lanes, lanes) << isa;
    EXPECT_EQ(cpu::choose_kernels(isa).f64->lanes, lanes / 2) << isa;
  }
}

INSTANTIATE_TEST_SUITE_P(Known, InstructionSet,
                         testing::Values(Known{"amx", true}, Known{"avx512vnni", true}, Known{"avx512", true},
                                         Known{"avx2", true}, Known{"sse4", true}, Known{"neon", false}, Known{"scalar", false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fd::test
