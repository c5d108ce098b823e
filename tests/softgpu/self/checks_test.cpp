// Every check of a kernel's accesses: once where it must speak, once where it must not.
#include "self/support.hpp"

namespace softgpu_test {
namespace {

// Runs a kernel on 64 threads a block with two arrays of 256 words, the first with values, and expects this to be said (nothing: all well).
void expect(const std::string& said, const std::string& body, unsigned blocks = 1, unsigned threads = 64,
            int code = launch_failed, const std::string& before = "") {
  for (const char* seed : {"1", "2", "3"}) {
    Session s(Environment{{"FD_SOFTGPU_SEED", seed}});
    const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(256, 3)), b = s.memory(1024);
    const int result = s.run(kernel(body, before), blocks, threads, a, b, 0);
    if (said.empty()) {
      EXPECT_EQ(s.reports(), "") << body;
      EXPECT_EQ(result, 0);
    } else {
      EXPECT_NE(s.reports().find(said), std::string::npos) << "expected: " << said << "\nreported: " << s.reports() << "\n"
                                                           << body;
      EXPECT_NE(s.reports().find("kernel k"), std::string::npos);
      EXPECT_NE(s.reports().find("PTX line"), std::string::npos);
      EXPECT_EQ(result, code);
      EXPECT_EQ(cuCtxSynchronize(), code) << "the error stays";
    }
  }
}

const std::string store_own = "mov.u32 %r4, s; mad.lo.u32 %r5, %r2, 4, %r4; st.shared.u32 [%r5], %r2;\n";
const std::string load_mirrored = "xor.b32 %r6, %r2, 63; mad.lo.u32 %r6, %r6, 4, %r4; ld.shared.u32 %r7, [%r6];\n";

TEST(Checks, RaceInSharedMemoryBetweenWarps) {
  expect("no barrier lies between",
         "mov.u32 %r4, s; mad.lo.u32 %r5, %r2, 4, %r4; st.shared.u32 [%r5], 0; xor.b32 %r6, %r2, 63; mad.lo.u32 %r6, %r6, 4, "
         "%r4; st.shared.u32 [%r6], 1;");
  expect("", store_own + "bar.sync 0;\n" + load_mirrored);
  // a read, then a write of another warp
  expect("no barrier lies between", store_own + "bar.sync 0;\n" + load_mirrored + "st.shared.u32 [%r5], 1;");
  expect("", store_own + "bar.sync 0;\n" + load_mirrored + "bar.sync 0; st.shared.u32 [%r5], 1;");
  // halves of one word by different warps are no race
  expect("",
         "mov.u32 %r4, s; shr.u32 %r5, %r2, 5; and.b32 %r6, %r2, 31; shl.b32 %r6, %r6, 2; mad.lo.u32 %r6, %r5, 2, %r6; add.u32 "
         "%r6, %r6, %r4; st.shared.u16 [%r6], %r2;");
  // atomics are none either
  expect("",
         "mov.u32 %r4, s; setp.ne.u32 %p1, %r2, 0; @!%p1 st.shared.u32 [%r4], 0; bar.sync 0; atom.shared.add.u32 %r5, [%r4], 1;");
}

TEST(Checks, RaceInSharedMemoryInsideAWarp) {
  const std::string swapped = "xor.b32 %r6, %r2, 1; mad.lo.u32 %r6, %r6, 4, %r4; ld.shared.u32 %r7, [%r6];";
  expect("no bar.warp.sync lies between", store_own + "bar.warp.sync -1;" + swapped + " st.shared.u32 [%r5], 1;", 1, 32);
  expect("", store_own + "bar.warp.sync -1;\n" + swapped, 1, 32);
  expect("", "mov.u32 %r4, s; st.shared.u32 [%r4], 7;", 1, 32);  // all lanes the same value
  expect("inside of a warp", "mov.u32 %r4, s; st.shared.u32 [%r4], %r2;", 1, 32);
}

TEST(Checks, ReadOfAPendingCopy) {
  const std::string copy =
      "mov.u32 %r4, s; mad.lo.u32 %r5, %r2, 4, %r4; cp.async.ca.shared.global [%r5], [%rd3], 4; cp.async.commit_group;\n";
  expect("may still be filling", copy + "ld.shared.u32 %r6, [%r5]; cp.async.wait_group 0;");
  expect("may still be filling", copy + copy.substr(copy.find("cp.async")).replace(0, 0, "add.u32 %r5, %r5, 512; ") +
                                     "cp.async.wait_group 1; ld.shared.u32 %r6, [%r5]; cp.async.wait_all;");
  expect("", copy + "cp.async.wait_group 0; ld.shared.u32 %r6, [%r5];");
  expect("not waited for", copy);
  expect("", copy + "cp.async.wait_all;");
  // zeros beyond the real size
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256);
  EXPECT_EQ(s.run(kernel("mov.u32 %r4, s; mad.lo.u32 %r5, %r2, 4, %r4; mov.u32 %r6, 2; cp.async.ca.shared.global [%r5], [%rd3], "
                         "4, %r6; cp.async.wait_all; ld.shared.u32 %r7, [%r5]; "
                         "add.u32 %r7, %r7, 5; st.global.u32 [%rd4], %r7;"),
                  1, 64, a, b),
            0);
  EXPECT_EQ(s.download<std::uint32_t>(b, 64), std::vector<std::uint32_t>(64, 8));
}

TEST(Checks, ReadsOfWhatWasNeverWritten) {
  expect("read of shared memory never written", "mov.u32 %r4, s; ld.shared.u32 %r5, [%r4];");
  expect("read of global memory never written", "ld.global.u32 %r5, [%rd4];");
  expect("", "ld.global.u32 %r5, [%rd3]; st.global.u32 [%rd4], %r5; ld.global.u32 %r6, [%rd4];");
  expect("read of global memory never written", "st.global.u16 [%rd4], %r2; ld.global.u32 %r6, [%rd4];");
}

TEST(Checks, AddressesOutsideAndMisaligned) {
  expect("reaches 4 bytes past an allocation of 1024", "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd2+1024], 1;", 1, 64,
         illegal_address);
  expect("", "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd2+1020], 1;");
  expect("outside of every allocation", "st.global.u32 [%rd1+-4], 1;", 1, 64, illegal_address);
  expect("near zero", "mov.u64 %rd5, 0; ld.global.u32 %r4, [%rd5];", 1, 64, illegal_address);
  expect("misaligned", "ld.global.u32 %r4, [%rd3+2];", 1, 64, illegal_address);
  expect("misaligned", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+8];", 1, 64, illegal_address);
  expect("", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+16];");
  expect("access outside of shared memory", "mov.u32 %r4, s; st.shared.u32 [%r4+1024], 1;", 1, 1, illegal_address);
  expect("misaligned access to shared", "mov.u32 %r4, s; st.shared.u32 [%r4+2], 1;", 1, 1, illegal_address);
  expect("access outside of local memory", ".local .align 4 .b8 x[16]; mov.u64 %rd5, x; st.local.u32 [%rd5+16], 1;", 1, 1,
         illegal_address);
  expect("", ".local .align 4 .b8 x[16]; mov.u64 %rd5, x; st.local.u32 [%rd5+12], 1; ld.local.u32 %r4, [%rd5+12];", 1, 1);
}

TEST(Checks, BarriersAndCollectivesInDivergentCode) {
  expect("barrier in divergent code", "setp.lt.u32 %p1, %r2, 7; @%p1 bra L; bar.sync 0; L:");
  expect("", "setp.lt.u32 %p1, %r2, 7; @%p1 bra L; add.u32 %r4, %r2, 1; L: bar.sync 0;");
  expect("", "setp.lt.u32 %p1, %r2, 32; @%p1 bra L; bar.sync 0; bra M; L: bar.sync 0; M:");  // whole warps, two places
  expect("waits for warps that never come", "setp.lt.u32 %p1, %r2, 32; @%p1 bra L; bar.sync 1, 64; L:");
  expect("shfl.sync in divergent code", "setp.lt.u32 %p1, %r2, 7; @%p1 bra L; shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1; L:");
  expect("", "setp.lt.u32 %p1, %r2, 7; @%p1 bra L; L: shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1;");
  expect("which takes no part", "shfl.sync.bfly.b32 %r4, %r2, 1, 31, 1;", 1, 1);
  expect("mma in divergent code",
         "mov.f64 %fd1, 0d0000000000000000; setp.lt.u32 %p1, %r2, 7; @%p1 bra L; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
         "{%fd2, %fd3}, {%fd1}, {%fd1}, {%fd1, %fd1}; L:");
}

TEST(Checks, RacesBetweenBlocks) {
  expect("between blocks", "st.global.u32 [%rd4], %r3;", 2);
  expect("", "mad.lo.u32 %r4, %r3, 64, %r2; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd5, %rd5, %rd2; st.global.u32 [%rd5], %r3;", 4);
  expect("", "red.global.add.u32 [%rd3], 1;", 4);
  expect("between blocks", "red.global.add.u32 [%rd3], 1; ld.global.u32 %r4, [%rd3];", 2);
  expect("", "ld.global.u32 %r4, [%rd3];", 4);
  // halves of one word by different blocks
  expect("", "mul.wide.u32 %rd5, %r3, 2; add.s64 %rd5, %rd5, %rd4; st.global.u16 [%rd5], %r2;", 2);
}

// The last block to come reads what the others wrote: ordered by fence, atomic, fence, and by nothing less.
TEST(Checks, BlocksThatPublishThroughAFence) {
  const auto last_block = [](const std::string& release, const std::string& acquire) {
    return "mul.wide.u32 %rd5, %r3, 4; add.s64 %rd5, %rd5, %rd2; st.global.u32 [%rd5], %r3;" + release +
           "atom.global.add.u32 %r4, [counter], 1;" + acquire +
           "setp.ne.u32 %p1, %r4, 3; @%p1 bra L; ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2]; st.global.u32 [counter], 0; L:";
  };
  const std::string counter = ".global .align 4 .u32 counter = 0;\n";
  expect("", last_block("membar.gl;", "membar.gl;"), 4, 1, 0, counter);
  expect("", last_block("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"), 4, 1, 0, counter);
  expect("between blocks", last_block("", "membar.gl;"), 4, 1, launch_failed, counter);
  expect("between blocks", last_block("membar.gl;", ""), 4, 1, launch_failed, counter);
  expect("between blocks", last_block("membar.cta;", "membar.gl;"), 4, 1, launch_failed, counter);
  std::string both = last_block("", "");
  both.replace(both.find("atom.global"), 11, "atom.acq_rel.gpu.global");
  expect("", both, 4, 1, 0, counter);
}

TEST(Checks, NamedBarriersOrderTheWarpsThatUseThem) {
  // warp 0 fills a buffer and arrives, warp 1 waits and reads; twice, with a barrier back
  const std::string body = R"(
  mov.u32 %r4, s; and.b32 %r5, %r2, 31; mad.lo.u32 %r5, %r5, 4, %r4; mov.u32 %r10, 0; setp.ge.u32 %p1, %r2, 32;
  LOOP: @%p1 bra READ;
  st.shared.u32 [%r5], %r2; bar.arrive 1, 64; FREE bra NEXT;
  READ: bar.sync 1, 64; ld.shared.u32 %r6, [%r5]; BACK
  NEXT: add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 2; @%p2 bra LOOP;)";
  const auto with = [&](const std::string& free, const std::string& back) {
    std::string b = body;
    b.replace(b.find("FREE"), 4, free);
    b.replace(b.find("BACK"), 4, back);
    return b;
  };
  expect("", with("bar.sync 2, 64;", "bar.arrive 2, 64;"));
  expect("barrier", with("bar.sync 3, 32;", ""));
}

TEST(Checks, CanBeTurnedOff) {
  Session s(Environment{{"FD_SOFTGPU_CHECKS", "0"}});
  const CUdeviceptr b = s.memory(1024);
  EXPECT_EQ(s.run(kernel("st.global.u32 [%rd4], %r3;"), 2, 64, b, b), 0);
  EXPECT_LE(s.download<unsigned>(b, 64).back(), 1u);  // nobody asks who wrote it, and copies carry nothing but what is there
  const CUdeviceptr copy = s.memory(1024);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(copy, b, 1024, nullptr), 0);
  EXPECT_EQ(s.download<unsigned>(copy, 256), s.download<unsigned>(b, 256));
  EXPECT_EQ(s.reports(), "");
}

TEST(Checks, AKernelThatDoesNotEnd) {
  Session s(Environment{{"FD_SOFTGPU_LIMIT", "1000000"}});
  EXPECT_EQ(s.run(kernel("L: bra L;"), 1, 32), 702);
  EXPECT_NE(s.reports().find("does not end"), std::string::npos);
}

TEST(Checks, TrapIsReported) { expect("trap", "trap;"); }

}  // namespace
}  // namespace softgpu_test
