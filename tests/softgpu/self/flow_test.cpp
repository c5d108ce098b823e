// Branches, loops, tables, early ends, calls: lanes part and meet again, whatever the layout of the code.
#include "self/support.hpp"

namespace softgpu_test {
namespace {

// b[thread] of 64 threads
std::vector<std::uint32_t> results(const std::string& body, const std::string& before = "") {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.upload(std::vector<std::uint32_t>(64, 0));
  EXPECT_EQ(s.run(kernel(body, before), 1, 64, a, b), 0) << s.reports();
  return s.download<std::uint32_t>(b, 64);
}
template <class F>
void expect_each(const std::string& body, F f, const std::string& before = "") {
  const std::vector<std::uint32_t> r = results(body, before);
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(r[t], f(t)) << "thread " << t << " of\n" << body;
}

TEST(Flow, BranchesMeetAgain) {
  // ballot after the two arms sees all lanes; inside it sees its own
  expect_each(R"(
    and.b32 %r4, %r2, 3; setp.eq.u32 %p1, %r4, 0; @%p1 bra THEN;
    activemask.b32 %r5; popc.b32 %r5, %r5; bra.uni JOIN;
    THEN: activemask.b32 %r5; popc.b32 %r5, %r5;
    JOIN: vote.sync.ballot.b32 %r6, %p1, -1; popc.b32 %r6, %r6; mad.lo.u32 %r5, %r6, 100, %r5; st.global.u32 [%rd4], %r5;)",
              [](unsigned t) { return 800 + (t % 4 == 0 ? 8u : 24u); });
}

TEST(Flow, NestedBranchesAndABlockOutOfLine) {
  // the cold block lies behind the end and jumps back in front of a barrier
  expect_each(R"(
    mov.u32 %r5, 1; and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra COLD;
    BACK: bar.sync 0; activemask.b32 %r6; popc.b32 %r6, %r6; mad.lo.u32 %r5, %r6, 10, %r5; st.global.u32 [%rd4], %r5; ret;
    COLD: setp.lt.u32 %p2, %r2, 8; @%p2 bra COLDER; add.u32 %r5, %r5, 1; bra BACK;
    COLDER: add.u32 %r5, %r5, 2; bra BACK;)",
              [](unsigned t) {
                return 320 + 1 + (t % 2 ? 0u : t < 8 ? 2u : 1u);
              });
}

TEST(Flow, LoopsOfDifferentLength) {
  expect_each(R"(
    and.b32 %r4, %r2, 7; mov.u32 %r5, 0; mov.u32 %r6, 0;
    LOOP: setp.ge.u32 %p1, %r5, %r4; @%p1 bra DONE; add.u32 %r6, %r6, %r5; add.u32 %r5, %r5, 1; and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra LOOP;
    add.u32 %r6, %r6, 100; bra LOOP;
    DONE: activemask.b32 %r8; setp.ne.u32 %p3, %r8, -1; @%p3 mov.u32 %r6, 999; st.global.u32 [%rd4], %r6;)",
              [](unsigned t) {
                unsigned n = t & 7, r = 0;
                for (unsigned k = 0; k < n;) {
                  r += k++;
                  if (k & 1) r += 100;
                }
                return r;
              });
}

TEST(Flow, LanesThatEndEarly) {
  expect_each(R"(
    st.global.u32 [%rd4], 7; setp.lt.u32 %p1, %r2, 5; @%p1 ret; setp.gt.u32 %p1, %r2, 60; @%p1 exit;
    bar.sync 0; vote.sync.ballot.b32 %r5, 1, -1; popc.b32 %r5, %r5; st.global.u32 [%rd4], %r5;)",
              [](unsigned t) { return t < 5 || t > 60 ? 7u
                                      : t < 32        ? 27u
                                                      : 29u; });
}

TEST(Flow, TableOfBranches) {
  expect_each(R"(
    and.b32 %r4, %r2, 3; ts: .branchtargets L0, L1, L2, L1;
    brx.idx %r4, ts;
    L0: mov.u32 %r5, 10; bra E;
    L1: mov.u32 %r5, 11; bra E;
    L2: mov.u32 %r5, 12;
    E: activemask.b32 %r6; popc.b32 %r6, %r6; mad.lo.u32 %r5, %r6, 100, %r5; st.global.u32 [%rd4], %r5;)",
              [](unsigned t) {
                return 3200 + (t % 4 == 0 ? 10u : t % 4 == 2 ? 12u : 11u);
              });
}

TEST(Flow, GuardedInstructions) {
  expect_each(
      "setp.lt.u32 %p1, %r2, 9; mov.u32 %r4, 1; @%p1 add.u32 %r4, %r4, 5; @!%p1 st.global.u32 [%rd4], %r4; @%p1 st.global.u32 "
      "[%rd4], 70;",
      [](unsigned t) { return t < 9 ? 70u : 1u; });
}

const std::string functions = R"(
.func (.param .b32 r) twice(.param .b32 x);
.func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [x]; setp.gt.u32 %p1, %r1, 40; @%p1 bra BIG; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;
  BIG: mov.u32 %r2, 1; st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) twice_and_lane(.param .b32 x, .param .b64 unused) {
  .reg .b32 %r<4>; .local .align 8 .b8 spill[16]; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [x]; mov.u64 %rd1, spill; st.local.u32 [%rd1+8], %r1;
  { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 q0; call.uni (q0), twice, (p0); ld.param.b32 %r2, [q0]; }
  ld.local.u32 %r1, [%rd1+8]; mov.u32 %r3, %laneid; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r1; st.param.b32 [r], %r2; ret;
}
)";

TEST(Flow, FunctionsCalledFromDivergentCode) {
  expect_each(R"(
    and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra EVEN;
    { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 q0; call.uni (q0), twice, (p0); ld.param.b32 %r5, [q0]; } bra JOIN;
    EVEN: { .param .b32 p0; .param .b64 p1; st.param.b32 [p0], %r2; st.param.b64 [p1], %rd1; .param .b32 q0; call.uni (q0), twice_and_lane, (p0, p1); ld.param.b32 %r5, [q0]; }
    JOIN: activemask.b32 %r6; setp.ne.u32 %p2, %r6, -1; @%p2 mov.u32 %r5, 9999; st.global.u32 [%rd4], %r5;)",
              [](unsigned t) {
                const unsigned twice = t > 40 ? 1 : 2 * t;
                return t % 2 ? twice : twice + t % 32 + t;
              },
              functions);
}

TEST(Flow, WarpsMayWaitForEachOther) {  // warp 1 spins until warp 0 has written
  expect_each(R"(
    mov.u32 %r4, s; setp.ge.u32 %p1, %r2, 32; setp.ne.u32 %p2, %r2, 0; @!%p2 st.volatile.shared.u32 [%r4], 0; bar.sync 0;
    @%p1 bra SPIN; st.volatile.shared.u32 [%r4], 5; bra E;
    SPIN: ld.volatile.shared.u32 %r5, [%r4]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN;
    E: st.global.u32 [%rd4], 1;)",
              [](unsigned) { return 1u; });
}

TEST(Flow, VariablesOfTheModule) {
  Session s;
  const std::string text = kernel(
      "ld.const.u32 %r4, [c+4]; ld.global.u32 %r5, [g]; add.u32 %r4, %r4, %r5; mov.u64 %rd5, g; cvta.global.u64 %rd5, %rd5; "
      "ld.u32 %r5, [%rd5]; add.u32 %r4, %r4, %r5;"
      "mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; st.u32 [%rd6], %r4; ld.u32 %r4, [%rd6]; st.global.u32 [%rd4], %r4;",
      ".const .align 4 .u32 c[2] = {5, 6};\n.global .align 4 .u32 g = 100;\n.visible .global .align 4 .b8 zeros[8];\n");
  const CUmodule m = s.load(text);
  CUfunction f = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&f, m, "k"), 0);
  CUdeviceptr g = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuModuleGetGlobal_v2(&g, &bytes, m, "g"), 0);
  EXPECT_EQ(bytes, 4u);
  const CUdeviceptr b = s.memory(256);
  EXPECT_EQ(s.launch(f, 1, 1, b, b), 0);
  EXPECT_EQ(s.download<std::uint32_t>(b, 1)[0], 206u);
  const unsigned other = 1000;
  EXPECT_EQ(cuMemcpyHtoD_v2(g, &other, 4), 0);
  EXPECT_EQ(s.launch(f, 1, 1, b, b), 0);
  EXPECT_EQ(s.download<std::uint32_t>(b, 1)[0], 2006u);
  EXPECT_EQ(cuModuleGetGlobal_v2(&g, &bytes, m, "zeros"), 0);
  EXPECT_EQ(s.download<std::uint32_t>(g, 2), (std::vector<std::uint32_t>{0, 0}));
}

TEST(Flow, SameBitsForTheSameSeed) {
  const auto sum = [](const char* seed, const char* devices) {
    Session s(Environment{{"FD_SOFTGPU_SEED", seed}, {"FD_SOFTGPU_DEVICES", devices}});
    const CUdeviceptr a = s.upload(std::vector<float>(1, 0.f));
    EXPECT_EQ(s.run(kernel("mad.lo.u32 %r4, %r3, 64, %r2; cvt.rn.f32.u32 %f1, %r4; add.f32 %f1, %f1, 0f3dcccccd; rcp.rn.f32 %f1, "
                           "%f1; red.global.add.f32 [%rd1], %f1;"),
                    100, 64, a, a),
              0);
    return s.download<float>(a, 1)[0];
  };
  EXPECT_EQ(sum("5", "1"), sum("5", "3"));
  EXPECT_NE(sum("5", "1"), sum("6", "1")) << "another seed, another order";
}

}  // namespace
}  // namespace softgpu_test
