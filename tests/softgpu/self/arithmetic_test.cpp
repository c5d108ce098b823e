// Single instructions against what C++ says, and mma against a model of its own.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "self/support.hpp"

namespace softgpu_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// A program for one lane: a[] of 64-bit words in %rd10 .. %rd13, the result in %rd20.
u64 evaluate(const std::string& body, std::vector<u64> a, int sm = 80) {
  a.resize(4);
  Session s(Environment{{"FD_SOFTGPU_SM", std::to_string(sm)}});
  const CUdeviceptr in = s.upload(a), out = s.memory(8);
  const std::string text = kernel(
      "ld.global.v2.u64 {%rd10, %rd11}, [%rd1]; ld.global.v2.u64 {%rd12, %rd13}, [%rd1+16]; cvt.u32.u64 %r10, %rd10; cvt.u32.u64 "
      "%r11, %rd11; cvt.u32.u64 %r12, %rd12;"
      "mov.b32 %f10, %r10; mov.b32 %f11, %r11; mov.b32 %f12, %r12; mov.b64 %fd10, %rd10; mov.b64 %fd11, %rd11; mov.b64 %fd12, "
      "%rd12; mov.u64 %rd20, 0; mov.u32 %r20, 0;\n" +
      body + "\nst.global.u64 [%rd2], %rd20;");
  EXPECT_EQ(s.run(text, 1, 1, in, out), 0) << body << s.reports();
  return s.download<u64>(out, 1)[0];
}
const std::string r = " cvt.u64.u32 %rd20, %r20;", f = " mov.b32 %r20, %f20; cvt.u64.u32 %rd20, %r20;",
                  d = " mov.b64 %rd20, %fd20;", p = " selp.u64 %rd20, 1, 0, %p1;";
u64 of(float v) { return std::bit_cast<u32>(v); }
u64 of(double v) { return std::bit_cast<u64>(v); }
u64 signed32(int v) { return static_cast<u32>(v); }

TEST(Arithmetic, Integers) {
  const u64 big = 0xfedcba9876543210ull, other = 0x123456789abcdef1ull;
  EXPECT_EQ(evaluate("mul.hi.u64 %rd20, %rd10, %rd11;", {big, other}),
            static_cast<u64>((static_cast<unsigned __int128>(big) * other) >> 64));
  EXPECT_EQ(evaluate("mul.hi.s64 %rd20, %rd10, %rd11;", {big, other}),
            static_cast<u64>((static_cast<__int128>(static_cast<std::int64_t>(big)) * static_cast<std::int64_t>(other)) >> 64));
  EXPECT_EQ(evaluate("mul.hi.u32 %r20, %r10, %r11;" + r, {0xfedcba98u, 0x12345678u}), (0xfedcba98ull * 0x12345678ull) >> 32);
  EXPECT_EQ(evaluate("mul.wide.s32 %rd20, %r10, %r11;", {signed32(-3), 5}), static_cast<u64>(-15ll));
  EXPECT_EQ(evaluate("mad.wide.u32 %rd20, %r10, %r11, %rd12;", {0xffffffffu, 0xffffffffu, 7}), 0xffffffffull * 0xffffffffull + 7);
  EXPECT_EQ(evaluate("mad.lo.s32 %r20, %r10, %r11, %r12;" + r, {signed32(-3), 5, 1}), signed32(-14));
  EXPECT_EQ(evaluate("div.s32 %r20, %r10, %r11;" + r, {signed32(-7), 2}), signed32(-3));
  EXPECT_EQ(evaluate("rem.s32 %r20, %r10, %r11;" + r, {signed32(-7), 2}), signed32(-1));
  EXPECT_EQ(evaluate("div.u64 %rd20, %rd10, %rd11;", {big, 10}), big / 10);
  EXPECT_EQ(evaluate("abs.s32 %r20, %r10;" + r, {signed32(-7)}), 7u);
  EXPECT_EQ(evaluate("min.s32 %r20, %r10, %r11;" + r, {signed32(-7), 3}), signed32(-7));
  EXPECT_EQ(evaluate("max.u32 %r20, %r10, %r11;" + r, {signed32(-7), 3}), signed32(-7));
  EXPECT_EQ(evaluate("shr.s32 %r20, %r10, 40;" + r, {signed32(-7)}), signed32(-1));
  EXPECT_EQ(evaluate("shl.b64 %rd20, %rd10, 64;", {big}), 0u);
  EXPECT_EQ(evaluate("shf.l.wrap.b32 %r20, %r10, %r11, 8;" + r, {0x11223344, 0x55667788}), 0x66778811u);
  EXPECT_EQ(evaluate("shf.r.clamp.b32 %r20, %r10, %r11, 40;" + r, {0x11223344, 0x55667788}), 0x55667788u);
}

TEST(Arithmetic, Carries) {
  const std::string sum = "{ .reg .u32 l, h, m, n; mov.b64 {l, h}, %rd10; mov.b64 {m, n}, %rd11; ";
  const u64 a = 0xfffffffff0000001ull, b = 0x0000000f1fffffffull;
  EXPECT_EQ(evaluate(sum + "add.cc.u32 l, l, m; addc.u32 h, h, n; mov.b64 %rd20, {l, h}; }", {a, b}), a + b);
  EXPECT_EQ(evaluate(sum + "sub.cc.u32 l, l, m; subc.u32 h, h, n; mov.b64 %rd20, {l, h}; }", {a, b}), a - b);
  EXPECT_EQ(evaluate(sum + "sub.cc.u32 l, l, m; subc.u32 h, h, n; mov.b64 %rd20, {l, h}; }", {5, 0x1ffffffffull}),
            5 - 0x1ffffffffull);
  EXPECT_EQ(evaluate("add.cc.u64 %rd20, %rd10, %rd11; addc.u64 %rd20, 0, 0;", {~0ull, 1}), 1u);
  EXPECT_EQ(evaluate("mad.lo.cc.u32 %r20, %r10, %r11, %r12; madc.hi.u32 %r20, %r10, %r11, 0;" + r,
                     {0xffffffffu, 0xffffffffu, 0xffffffffu}),
            0xffffffffu);
}

TEST(Arithmetic, Bits) {
  EXPECT_EQ(evaluate("prmt.b32 %r20, %r10, %r11, 0x7210;" + r, {0x11223344, 0x55667788}), 0x55223344u);
  EXPECT_EQ(evaluate("prmt.b32 %r20, %r10, %r11, 0xbbbb;" + r, {0x81223344, 0}), 0xffffffffu);
  EXPECT_EQ(evaluate("bfe.u32 %r20, %r10, 8, 12;" + r, {0xfedcba98}), 0xcbau);
  EXPECT_EQ(evaluate("bfe.s32 %r20, %r10, 8, 12;" + r, {0xfedcba98}), signed32(static_cast<int>(0xfffffcba)));
  EXPECT_EQ(evaluate("bfe.s32 %r20, %r10, 28, 12;" + r, {0xfedcba98}), 0xffffffffu);
  EXPECT_EQ(evaluate("bfe.u32 %r20, %r10, 40, 12;" + r, {0xfedcba98}), 0u);
  EXPECT_EQ(evaluate("bfi.b32 %r20, %r10, %r11, 4, 8;" + r, {0xab, 0xffffffff}), 0xfffffabfu);
  EXPECT_EQ(evaluate("lop3.b32 %r20, %r10, %r11, %r12, 0xe8;" + r, {0xff00, 0xf0f0, 0xcccc}), 0xfcc0u);
  EXPECT_EQ(evaluate("popc.b64 %r20, %rd10;" + r, {0xff00ff0000000001ull}), 17u);
  EXPECT_EQ(evaluate("clz.b32 %r20, %r10;" + r, {0x00010000}), 15u);
  EXPECT_EQ(evaluate("brev.b32 %r20, %r10;" + r, {0x1}), 0x80000000u);
  EXPECT_EQ(evaluate("bfind.u32 %r20, %r10;" + r, {0x00010000}), 16u);
  EXPECT_EQ(evaluate("mov.b64 {%r21, %r20}, %rd10;" + r, {0x1122334455667788ull}), 0x11223344u);
  EXPECT_EQ(
      evaluate("{ .reg .b16 h<4>; mov.b64 {h0, h1, h2, h3}, %rd10; mov.b64 %rd20, {h3, h2, h1, h0}; }", {0x1111222233334444ull}),
      0x4444333322221111ull);
}

TEST(Arithmetic, ComparisonsAndSelections) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    const char* name;
    bool less, equal, greater, unordered;
  } table[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
               {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
               {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
               {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
               {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const auto& t : table) {
    const auto ask = [&](double a, double b) {
      return evaluate("setp." + std::string(t.name) + ".f64 %p1, %fd10, %fd11;" + p, {of(a), of(b)}) == 1;
    };
    EXPECT_EQ(ask(1, 2), t.less) << t.name;
    EXPECT_EQ(ask(2, 2), t.equal) << t.name;
    EXPECT_EQ(ask(3, 2), t.greater) << t.name;
    EXPECT_EQ(ask(nan, 2), t.unordered) << t.name;
  }
  EXPECT_EQ(evaluate("setp.lo.u32 %p1, %r10, %r11;" + p, {3, signed32(-1)}), 1u);
  EXPECT_EQ(evaluate("setp.lt.s32 %p1, %r10, %r11;" + p, {3, signed32(-1)}), 0u);
  EXPECT_EQ(evaluate("setp.gt.u32 %p2, %r10, 2; setp.lt.and.s32 %p1, %r10, %r11, %p2;" + p, {3, 5}), 1u);
  EXPECT_EQ(evaluate("setp.gt.u32 %p2, %r10, 2; setp.lt.and.s32 %p3|%p1, %r10, %r11, !%p2;" + p, {3, 5}), 0u);
  EXPECT_EQ(evaluate("slct.b32.s32 %r20, %r10, %r11, %r12;" + r, {3, 5, signed32(-1)}), 5u);
  EXPECT_EQ(evaluate("testp.infinite.f32 %p1, %f10;" + p, {of(std::numeric_limits<float>::infinity())}), 1u);
  EXPECT_EQ(evaluate("testp.finite.f64 %p1, %fd10;" + p, {of(nan)}), 0u);
  EXPECT_EQ(evaluate("min.f32 %f20, %f10, %f11;" + f, {of(std::numeric_limits<float>::quiet_NaN()), of(2.f)}), of(2.f));
}

TEST(Arithmetic, Reals) {
  const double a = 1.1, b = -2.7, c = 0.3;
  EXPECT_EQ(evaluate("fma.rn.f64 %fd20, %fd10, %fd11, %fd12;" + d, {of(a), of(b), of(c)}), of(std::fma(a, b, c)));
  EXPECT_EQ(evaluate("div.rn.f64 %fd20, %fd10, %fd11;" + d, {of(a), of(b)}), of(a / b));
  EXPECT_EQ(evaluate("sqrt.rn.f64 %fd20, %fd10;" + d, {of(a)}), of(std::sqrt(a)));
  EXPECT_EQ(evaluate("rcp.rn.f32 %f20, %f10;" + f, {of(3.f)}), of(1 / 3.f));
  EXPECT_EQ(evaluate("copysign.f64 %fd20, %fd10, %fd11;" + d, {of(b), of(a)}), of(-a));
  EXPECT_EQ(evaluate("neg.f32 %f20, %f10;" + f, {of(0.f)}), of(-0.f));
  const double third = 1.0 / 3.0;
  EXPECT_LE(std::bit_cast<double>(evaluate("mul.rm.f64 %fd20, %fd10, %fd11;" + d, {of(third), of(third)})),
            std::bit_cast<double>(evaluate("mul.rp.f64 %fd20, %fd10, %fd11;" + d, {of(third), of(third)})));
  EXPECT_NE(evaluate("mul.rm.f64 %fd20, %fd10, %fd11;" + d, {of(third), of(third)}),
            evaluate("mul.rp.f64 %fd20, %fd10, %fd11;" + d, {of(third), of(third)}));
  EXPECT_EQ(evaluate("add.rz.f32 %f20, %f10, %f11;" + f, {of(1.f), of(0x1.fffffep-24f)}), of(1.f));
  EXPECT_EQ(evaluate("add.rp.f32 %f20, %f10, %f11;" + f, {of(1.f), of(0x1p-40f)}), of(1.f + 0x1p-23f));
  EXPECT_EQ(evaluate("fma.rm.f32 %f20, %f10, %f11, %f12;" + f, {of(1.f), of(1.f), of(-0x1p-40f)}), of(1.f - 0x1p-24f));
  EXPECT_EQ(evaluate("add.sat.f32 %f20, %f10, %f11;" + f, {of(1.f), of(1.f)}), of(1.f));
  EXPECT_EQ(evaluate("mul.ftz.f32 %f20, %f10, %f11;" + f, {of(0x1p-100f), of(-0x1p-40f)}), of(-0.f));
  EXPECT_EQ(evaluate("mul.f32 %f20, %f10, %f11;" + f, {of(0x1p-100f), of(0x1p-40f)}), of(0x1p-140f));
  for (const float x : {-3.7f, -0.5f, 0.f, 0.1f, 12.3f}) {
    EXPECT_NEAR(std::bit_cast<float>(static_cast<u32>(evaluate("ex2.approx.ftz.f32 %f20, %f10;" + f, {of(x)}))) / std::exp2(x), 1,
                3e-7);
    EXPECT_NEAR(std::bit_cast<float>(static_cast<u32>(evaluate("sin.approx.f32 %f20, %f10;" + f, {of(x)}))), std::sin(x), 1e-6);
  }
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %f20, %f10;" + f, {of(-127.f)}), of(0.f));
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %f20, %f10;" + f, {of(-std::numeric_limits<float>::infinity())}), of(0.f));
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %f20, %f10;" + f, {of(128.f)}), of(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(evaluate("lg2.approx.f32 %f20, %f10;" + f, {of(8.f)}), of(3.f));
  EXPECT_EQ(evaluate("rsqrt.approx.f32 %f20, %f10;" + f, {of(16.f)}), of(0.25f));
}

TEST(Arithmetic, Conversions) {
  EXPECT_EQ(evaluate("cvt.rzi.s32.f64 %r20, %fd10;" + r, {of(-2.7)}), signed32(-2));
  EXPECT_EQ(evaluate("cvt.rni.s32.f32 %r20, %f10;" + r, {of(2.5f)}), 2u);
  EXPECT_EQ(evaluate("cvt.rmi.f64.f64 %fd20, %fd10;" + d, {of(-2.2)}), of(-3.0));
  EXPECT_EQ(evaluate("cvt.rzi.u32.f32 %r20, %f10;" + r, {of(-2.7f)}), 0u);
  EXPECT_EQ(evaluate("cvt.rzi.s32.f32 %r20, %f10;" + r, {of(1e20f)}), 0x7fffffffu);
  EXPECT_EQ(evaluate("cvt.rn.f64.u64 %fd20, %rd10;" + d, {~0ull}), of(0x1p64));
  EXPECT_EQ(evaluate("cvt.rz.f64.u64 %fd20, %rd10;" + d, {~0ull}), of(0x1.fffffffffffffp63));
  EXPECT_EQ(evaluate("cvt.rn.f32.f64 %f20, %fd10;" + f, {of(1.0000000894)}), of(static_cast<float>(1.0000000894)));
  EXPECT_EQ(evaluate("cvt.rm.f32.f64 %f20, %fd10;" + f, {of(-1.0000000001)}), of(-1.f - 0x1p-23f));
  EXPECT_EQ(evaluate("cvt.rz.f32.f64 %f20, %fd10;" + f, {of(-1.0000000001)}), of(-1.f));
  EXPECT_EQ(evaluate("cvt.f64.f32 %fd20, %f10;" + d, {of(1.5f)}), of(1.5));
  EXPECT_EQ(evaluate("cvt.s64.s32 %rd20, %r10;", {signed32(-5)}), static_cast<u64>(-5ll));
  EXPECT_EQ(evaluate("cvt.u64.u8 %rd20, %rd10;", {0x1ff}), 0xffu);
  EXPECT_EQ(evaluate("cvt.sat.f32.f32 %f20, %f10;" + f, {of(1.5f)}), of(1.f));
  EXPECT_EQ(evaluate("cvt.rna.tf32.f32 %r20, %f10;" + r, {of(1.f + 0x1p-11f)}), of(1.f + 0x1p-10f));
  EXPECT_EQ(evaluate("cvt.rn.bf16x2.f32 %r20, %f10, %f11;" + r, {of(1.f), of(-2.f)}), 0x3f80c000u);
  EXPECT_EQ(evaluate("fma.rn.f16x2 %r20, %r10, %r11, %r12;" + r, {0x3c004000, 0x40004200, 0x3c003c00}), 0x42004700u);
}

// fp16: every value there and back, and rounding of what lies between two.
TEST(Arithmetic, HalvesThereAndBack) {
  Session s;
  std::vector<u32> bits(65536);
  for (u32 k = 0; k < bits.size(); ++k) bits[k] = k;
  const CUdeviceptr a = s.upload(bits), b = s.memory(65536 * 4);
  EXPECT_EQ(s.run(kernel("mad.lo.u32 %r4, %r3, 64, %r2; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd5, %rd1; add.s64 %rd7, %rd5, "
                         "%rd2; ld.global.u16 %h1, [%rd6];"
                         "cvt.f32.f16 %f1, %h1; cvt.rn.f16.f32 %h2, %f1; mov.b32 %r5, {%h2, %h2}; cvt.rn.f16x2.f32 %r6, %f1, "
                         "%f1; and.b32 %r5, %r5, 0xffff; and.b32 %r6, %r6, 0xffff;"
                         "sub.u32 %r7, %r6, %r5; shl.b32 %r7, %r7, 16; or.b32 %r5, %r5, %r7; st.global.u32 [%rd7], %r5;"),
                  1024, 64, a, b),
            0);
  const std::vector<u32> back = s.download<u32>(b, 65536);
  for (u32 k = 0; k < 65536; ++k) {
    const bool nan = (k & 0x7fff) > 0x7c00;
    EXPECT_EQ(back[k], nan ? 0x7fffu : k);
  }
  const struct {
    float v;
    u32 h;
  } table[] = {{65504.f, 0x7bff},      {65519.f, 0x7bff},     {65520.f, 0x7c00},     {1e9f, 0x7c00},
               {0x1p-24f, 1},          {0x1p-25f, 0},         {0x1.000002p-25f, 1},  {0x1.8p-24f, 2},
               {0x1.ff8p-15f, 0x3ff},  {0x1.ffcp-15f, 0x400}, {0x1.ffep-15f, 0x400}, {1 + 0x1p-11f, 0x3c00},
               {1 + 0x3p-11f, 0x3c02}, {-0.f, 0x8000}};
  for (const auto& t : table) EXPECT_EQ(evaluate("cvt.rn.f16.f32 %h1, %f10; cvt.u64.u16 %rd20, %h1;", {of(t.v)}), t.h) << t.v;
}

TEST(Arithmetic, LanesOfAWarp) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<u32>(32, 0)), b = s.upload(std::vector<u32>(32, 0));
  const auto run = [&](const std::string& body) {
    EXPECT_EQ(s.run(kernel(body + " st.global.u32 [%rd4], %r5;"), 1, 32, a, b), 0) << s.reports();
    return s.download<u32>(b, 32);
  };
  std::vector<u32> v = run("shfl.sync.bfly.b32 %r5, %r2, 5, 31, -1;");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(v[l], l ^ 5);
  v = run("shfl.sync.up.b32 %r5|%p1, %r2, 3, 0, -1;");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(v[l], l < 3 ? l : l - 3);
  v = run("shfl.sync.down.b32 %r5, %r2, 3, 0x181f, -1;");  // segments of 8
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(v[l], l % 8 + 3 > 7 ? l : l + 3);
  v = run("shfl.sync.idx.b32 %r5, %r2, 7, 31, -1;");
  EXPECT_EQ(v, std::vector<u32>(32, 7));
  EXPECT_EQ(run("redux.sync.add.u32 %r5, %r2, -1;")[3], 496u);
  EXPECT_EQ(run("redux.sync.max.s32 %r5, %r2, -1;")[3], 31u);
  v = run("and.b32 %r4, %r2, 3; match.any.sync.b32 %r5, %r4, -1;");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(v[l], 0x11111111u << l % 4);
  EXPECT_EQ(run("setp.lt.u32 %p1, %r2, 5; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r5, 1, 0, %p2;")[9], 1u);
  EXPECT_EQ(run("setp.lt.u32 %p1, %r2, 5; bar.red.popc.u32 %r5, 0, %p1;")[9], 5u);
  EXPECT_EQ(run("mov.u32 %r5, %lanemask_lt;")[9], 511u);
  v = run("movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r2;");  // element (i, j) of 16-bit values; lane 4 i + j / 2 holds two
  EXPECT_EQ(v[0], 0u | 4u << 16);
  v = run("mov.u32 %r5, %clock; mov.u64 %rd5, %globaltimer; nanosleep.u32 10; mov.u32 %r5, %nctaid.x;");
  EXPECT_EQ(v[0], 1u);
}

TEST(Arithmetic, Atomics) {
  const auto run = [](const std::string& op, u32 start) {
    Session s;
    const CUdeviceptr a = s.upload(std::vector<u32>{start, 0}), b = s.memory(128);
    EXPECT_EQ(s.run(kernel(op), 1, 32, a, b), 0) << s.reports();
    return s.download<u64>(a, 1)[0];
  };
  EXPECT_EQ(run("atom.global.add.u32 %r4, [%rd1], %r2;", 5), 501u);
  EXPECT_EQ(run("red.global.add.u64 [%rd1], %rd1;", 0) & 0xff, 0u);
  EXPECT_EQ(run("atom.global.max.s32 %r4, [%rd1], %r2;", 5), 31u);
  EXPECT_EQ(run("atom.global.inc.u32 %r4, [%rd1], 9;", 0), 2u);  // 32 times modulo 10
  EXPECT_EQ(run("atom.global.exch.b32 %r4, [%rd1], 9;", 0), 9u);
  EXPECT_EQ(run("atom.global.cas.b32 %r4, [%rd1], %r2, 100;", 7), 100u);
  EXPECT_EQ(run("mov.f32 %f1, 0f3f800000; red.relaxed.gpu.global.add.f32 [%rd1], %f1;", 0), of(32.f));
  EXPECT_EQ(run("mov.f64 %fd1, 0d3ff0000000000000; atom.add.f64 %fd2, [%rd1], %fd1;", 0), of(32.0));
}

// mma, one number at a time, in integers: a_k b_k = m 2^e; all terms are aligned to the largest exponent, cut, added, and the sum is cut. Fields
// of the operands: bits of fraction and the smallest exponent.
struct Format {
  const char* kinds;
  const char* shape;
  int k, fraction, smallest, step80, step90;
};
float model(const std::vector<float>& a, const std::vector<float>& b, float c, const Format& t, bool newer) {
  const int bits = newer ? 25 : 24, step = newer ? t.step90 : t.step80;
  for (int first = 0; first < t.k; first += step) {
    const auto exponent = [](float v, int least) { return v == 0 ? -100000 : std::max(std::ilogb(v), least); };
    int top = std::max(c == 0 ? -126 : std::ilogb(c), -126);
    for (int k = first; k < std::min(first + step, t.k); ++k)
      if (a[k] != 0 && b[k] != 0) top = std::max(top, exponent(a[k], t.smallest) + exponent(b[k], t.smallest));
    __int128 sum = 0;
    const auto add = [&](double v) {  // toward zero
      const double scaled = std::ldexp(v, bits - top);
      sum += static_cast<long long>(scaled);
    };
    add(c);
    for (int k = first; k < std::min(first + step, t.k); ++k) add(static_cast<double>(a[k]) * b[k]);
    const bool minus = sum < 0;
    if (minus) sum = -sum;
    int e = top - bits;
    while (sum >= 1 << 24) sum >>= 1, ++e;
    c = std::ldexp(static_cast<float>(static_cast<long long>(sum)), e);
    if (minus) c = -c;
  }
  return c;
}

TEST(Arithmetic, MatrixProductsAsTheHardwareDoesThem) {
  const Format formats[] = {{"f32.f16.f16.f32", "m16n8k16", 16, 10, -14, 8, 16},
                            {"f32.f16.f16.f32", "m16n8k8", 8, 10, -14, 8, 8},
                            {"f32.bf16.bf16.f32", "m16n8k16", 16, 7, -126, 8, 16},
                            {"f32.tf32.tf32.f32", "m16n8k8", 8, 10, -126, 4, 8},
                            {"f32.tf32.tf32.f32", "m16n8k4", 4, 10, -126, 4, 4}};
  std::mt19937 random(1);
  for (const Format& t : formats)
    for (const int sm : {80, 90, 120})
      for (int trial = 0; trial < 6; ++trial) {
        const bool tf32 = t.k == 4 || std::string(t.kinds).find("tf32") != std::string::npos,
                   brain = std::string(t.kinds).find("bf16") != std::string::npos;
        const int per = tf32 ? 1 : 2, na = 16 * t.k / 32 / per, nb = t.k * 8 / 32 / per;
        const auto number = [&](int spread) {
          const float v = std::ldexp(static_cast<float>(static_cast<int>(random() % 4096) - 2048) / 2048,
                                     static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread);
          const double unit = std::ldexp(1.0, std::max(v == 0 ? 0 : std::ilogb(v), t.smallest) - t.fraction);
          return static_cast<float>(std::trunc(v / unit) * unit);
        };
        const int spread = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 4 : 12;
        std::vector<std::vector<float>> a(16, std::vector<float>(t.k)), b(8, std::vector<float>(t.k)),
            c(16, std::vector<float>(8));
        for (auto& row : a)
          for (float& v : row) v = number(spread);
        for (auto& row : b)
          for (float& v : row) v = number(spread);
        for (auto& row : c)
          for (float& v : row) v = std::ldexp(static_cast<float>(random()) / 0x1p31f - 1, static_cast<int>(random() % 20) - 10);
        // registers: lane l holds row l / 4 and columns l % 4 (times two for pairs)
        const auto bits = [&](float v) -> u32 {
          if (tf32) return std::bit_cast<u32>(v);
          if (brain) return std::bit_cast<u32>(v) >> 16;
          if (v == 0) return 0;
          const int e = std::max(std::ilogb(v), -14);
          const u32 m = static_cast<u32>(std::fabs(std::ldexp(v, 10 - e)));
          return (v < 0 ? 0x8000u : 0u) | (m >= 1024 ? static_cast<u32>(e + 15) << 10 | (m & 1023) : m);
        };
        std::vector<u32> registers(32 * 16);
        for (int l = 0; l < 32; ++l) {
          const int g = l / 4, q = l % 4;
          const auto at = [&](const std::vector<float>& row, int k) {
            return tf32 ? bits(row[k]) : bits(row[k]) | bits(row[k + 1]) << 16;
          };
          for (int e = 0; e < na; ++e) registers[32 * e + l] = at(a[g + 8 * (e % 2)], per * q + 4 * per * (e / 2));
          for (int e = 0; e < nb; ++e) registers[32 * (na + e) + l] = at(b[g], per * q + 4 * per * e);
          for (int e = 0; e < 4; ++e) registers[32 * (na + nb + e) + l] = std::bit_cast<u32>(c[g + 8 * (e / 2)][2 * q + e % 2]);
        }
        std::string body, lists[3];
        for (int e = 0; e < na + nb; ++e) {
          body += "ld.global.u32 %r" + std::to_string(10 + e) + ", [%rd3+" + std::to_string(128 * e) + "];";
          lists[e >= na] += (lists[e >= na].empty() ? "%r" : ", %r") + std::to_string(10 + e);
        }
        for (int e = 0; e < 4; ++e)
          body += "ld.global.f32 %f" + std::to_string(e) + ", [%rd3+" + std::to_string(128 * (na + nb + e)) + "];";
        body += "mma.sync.aligned." + std::string(t.shape) + ".row.col." + t.kinds + " {%f4, %f5, %f6, %f7}, {" + lists[0] +
                "}, {" + lists[1] + "}, {%f0, %f1, %f2, %f3};";
        for (int e = 0; e < 4; ++e)
          body += "st.global.f32 [%rd4+" + std::to_string(128 * e) + "], %f" + std::to_string(4 + e) + ";";
        Session s(Environment{{"FD_SOFTGPU_SM", std::to_string(sm)}});
        const CUdeviceptr in = s.upload(registers), out = s.memory(512);
        ASSERT_EQ(s.run(kernel(body), 1, 32, in, out), 0) << s.reports();
        const std::vector<float> y = s.download<float>(out, 128);
        for (int l = 0; l < 32; ++l)
          for (int e = 0; e < 4; ++e) {
            const int row = l / 4 + 8 * (e / 2), column = 2 * (l % 4) + e % 2;
            ASSERT_EQ(y[32 * e + l], model(a[row], b[column], c[row][column], t, sm >= 90))
                << t.kinds << " " << t.shape << " sm " << sm << " row " << row << " column " << column;
          }
      }
}

TEST(Arithmetic, MatrixProductsCutAndDoNotRound) {
  // 1 + 16 times 2^-26 is 1 on every GPU: each term is cut away
  const auto one = [](int sm) {
    Session s(Environment{{"FD_SOFTGPU_SM", std::to_string(sm)}});
    const CUdeviceptr out = s.memory(128);
    EXPECT_EQ(s.run(kernel("mov.u32 %r10, 0x08000800; mov.f32 %f0, 0f3f800000; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                           "{%f4, %f5, %f6, %f7}, {%r10, %r10, %r10, %r10}, {%r10, %r10},"
                           "{%f0, %f0, %f0, %f0}; st.global.f32 [%rd4], %f4;"),
                    1, 32, out, out),
              0);
    return s.download<float>(out, 1)[0];
  };
  EXPECT_EQ(one(80), 1.f);  // 0x0800 is 2^-13
  EXPECT_EQ(one(120), 1.f);
}

TEST(Arithmetic, MatrixProductsInDouble) {
  std::mt19937 random(2);
  std::vector<double> in(32 * 4);
  for (double& v : in) v = static_cast<double>(random()) / 0x1p32 - 0.5;
  Session s;
  const CUdeviceptr a = s.upload(in), b = s.memory(512);
  EXPECT_EQ(s.run(kernel("mul.wide.u32 %rd5, %r2, 8; add.s64 %rd6, %rd5, %rd1; add.s64 %rd7, %rd5, %rd2; ld.global.f64 %fd1, "
                         "[%rd6]; ld.global.f64 %fd2, [%rd6+256]; ld.global.f64 %fd3, [%rd6+512];"
                         "ld.global.f64 %fd4, [%rd6+768]; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd1}, "
                         "{%fd2}, {%fd3, %fd4}; st.global.f64 [%rd7], %fd5; st.global.f64 [%rd7+256], %fd6;"),
                  1, 32, a, b),
            0)
      << s.reports();
  const std::vector<double> y = s.download<double>(b, 64);
  for (int l = 0; l < 32; ++l)
    for (int e = 0; e < 2; ++e) {
      const int row = l / 4, column = 2 * (l % 4) + e;
      double sum = in[static_cast<std::size_t>(32 * (2 + e) + l)];
      for (int k = 0; k < 4; ++k)
        sum = std::fma(in[static_cast<std::size_t>(4 * row + k)], in[static_cast<std::size_t>(32 + 4 * column + k)], sum);
      EXPECT_EQ(y[static_cast<std::size_t>(32 * e + l)], sum);
    }
}

}  // namespace
}  // namespace softgpu_test
