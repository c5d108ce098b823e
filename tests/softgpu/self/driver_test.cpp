// The driver: loading, errors, failure on demand, leaks, files.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "self/support.hpp"

namespace softgpu_test {
namespace {

std::string refusal(const std::string& text, int code = 218) {
  Session s;
  CUmodule m = nullptr;
  EXPECT_EQ(cuModuleLoadData(&m, text.c_str()), code);
  return s.reports();
}
void expect_refused(const std::string& text, const std::string& said) {
  const std::string r = refusal(text);
  EXPECT_NE(r.find(said), std::string::npos) << "expected: " << said << "\nreported: " << r;
}

TEST(Driver, TextThatIsNoPtx) {
  expect_refused("hello\nworld", "PTX line 1: this is not PTX");
  expect_refused("", "this is not PTX");
  expect_refused(".version 8.0\n.target sm_80\nrubbish here;", "PTX line 3: not a PTX directive: rubbish");
  expect_refused(kernel("\nfrobnicate.b32 %r4, %r5;"), "PTX line 12: an instruction this machine does not know: frobnicate.b32");
  expect_refused(kernel("add.s32 %r4, %r5;"), "an operand is missing");
  expect_refused(kernel("add.s32 %r4, %r5, %r6, %r7;"), "too many operands");
  expect_refused(kernel("add.s32 %r4, %r5, %nothing;"), "no such register: %nothing");
  expect_refused(kernel("add.s32 %r4, %r5, nothing;"), "what is nothing?");
  expect_refused(kernel("add.s32 7, %r5, %r6;"), "a result cannot be a constant");
  expect_refused(kernel("add.s32 %r4, %p1, %r6;"), "is a predicate");
  expect_refused(kernel("bra NOWHERE;"), "no label NOWHERE");
  expect_refused(kernel("@%q bra L; L:"), "no such predicate: %q");
  expect_refused(kernel("{ call.uni missing; }"), "no function missing");
  expect_refused(kernel("mul.lo.f32 %f1, %f2, %f3;"), "a form of mul");
  expect_refused(kernel("wgmma.fence.sync.aligned;"), "does not know: wgmma");
  expect_refused(kernel("ld.global.u32 %r4, %rd1;"), "an address [...] was expected");
  std::string open = kernel("");
  open.resize(open.rfind('}'));
  expect_refused(open, "the text ends inside of k");
}

TEST(Driver, EveryPrefixOfAModuleIsReadOrRefused) {
  const std::string text = kernel("L: setp.lt.u32 %p1, %r2, 5; @%p1 bra L; /* c */ st.global.v2.u32 [%rd3+8], {%r4, %r5}; // d");
  Session s;
  for (std::size_t n = 0; n < text.size(); n += 3) {
    CUmodule m = nullptr;
    const int r = cuModuleLoadData(&m, text.substr(0, n).c_str());
    EXPECT_TRUE(r == 0 || r == 218) << r;
  }
}

TEST(Driver, MachineCodeAndNewerTargets) {
  Session s(Environment{{"FD_SOFTGPU_SM", "80"}});
  CUmodule m = nullptr;
  EXPECT_EQ(cuModuleLoadData(&m,
                             "\x7f"
                             "ELF"),
            209);
  EXPECT_EQ(cuModuleLoadData(&m, kernel("", "", 90).c_str()), 209);
  char log[64] = {};
  const int options[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&m, "nonsense", 2, options, values), 218);
  EXPECT_NE(std::string(log).find("PTX line 1"), std::string::npos);
  EXPECT_EQ(cuModuleLoadDataEx(&m, kernel("").c_str(), 0, nullptr, nullptr), 0);
}

TEST(Driver, VersionsAndDevices) {
  {
    Session s(Environment{{"FD_SOFTGPU_SM", "120"}, {"FD_SOFTGPU_MEMORY", "2M"}}, 3);
    int n = 0, major = 0, minor = 0;
    EXPECT_EQ(cuDeviceGetCount(&n), 0);
    EXPECT_EQ(n, 3);
    EXPECT_EQ(cuDeviceGetAttribute(&major, 75, 2), 0);
    EXPECT_EQ(cuDeviceGetAttribute(&minor, 76, 2), 0);
    EXPECT_EQ(major * 10 + minor, 120);
    EXPECT_EQ(cuDeviceGetAttribute(&n, 75, 3), 101);
    CUdeviceptr p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, 3 << 20), 2);
    const CUdeviceptr a = s.memory(1 << 20);
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), 0);
    EXPECT_EQ(free, 1u << 20);
    EXPECT_EQ(cuMemAlloc_v2(&p, (1 << 20) + 1), 2);
    EXPECT_EQ(cuMemFree_v2(a), 0);
    EXPECT_EQ(cuMemAlloc_v2(&p, 2 << 20), 0);
  }
  {
    Session s(Environment{{"FD_SOFTGPU_DRIVER_VERSION", "11020"}});
    int v = 0;
    EXPECT_EQ(cuDriverGetVersion(&v), 0);
    EXPECT_EQ(v, 11020);
    CUmodule m = nullptr;
    EXPECT_EQ(cuModuleLoadData(&m, kernel("").c_str()), 222);
  }
  {
    Session s({}, 0);
    EXPECT_EQ(cuInit(0), 100);
    int n = 0;
    EXPECT_EQ(cuDeviceGetCount(&n), 3);
  }
  ::setenv("FD_SOFTGPU_INIT", "34", 1);
  fd_softgpu_reset();
  EXPECT_EQ(cuInit(0), 34);
  ::unsetenv("FD_SOFTGPU_INIT");
  fd_softgpu_reset();
}

// A small program; the number of the call that failed, 0 if none did.
int program() {
  int n = 0;
  CUcontext c = nullptr;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr p = 0;
  CUstream s = nullptr;
  std::uint32_t out[64];
  int failed = 0;
  const auto check = [&](int r) {
    ++n;
    if (r && !failed) failed = n;
    return r == 0;
  };
  if (!check(cuInit(0)) || !check(cuDevicePrimaryCtxRetain(&c, 0))) return failed;
  if (check(cuCtxSetCurrent(c)) && check(cuModuleLoadData(&m, kernel("st.global.u32 [%rd3], %r2;").c_str()))) {
    if (check(cuModuleGetFunction(&f, m, "k")) && check(cuStreamCreate(&s, 1))) {
      if (check(cuMemAlloc_v2(&p, 256))) {
        int zero = 0;
        void* arguments[] = {&p, &p, &zero};
        if (check(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, arguments, nullptr)) &&
            check(cuMemcpyDtoHAsync_v2(out, p, 256, s))) {
          check(cuStreamSynchronize(s));
        }
        cuStreamSynchronize(s);
        check(cuMemFree_v2(p));
      }
      check(cuStreamDestroy_v2(s));
    }
    check(cuModuleUnload(m));
  }
  check(cuDevicePrimaryCtxRelease_v2(0));
  return failed;
}

TEST(Driver, AnyCallCanBeMadeToFail) {
  for (int n = 1; n < 20; ++n) {
    Session s(Environment{{"FD_SOFTGPU_FAIL", std::to_string(n)}}, 0);
    ::setenv("FD_SOFTGPU_DEVICES", "1", 1);
    fd_softgpu_reset();
    const int failed = program();
    if (n <= 9) {
      EXPECT_EQ(failed, n);
    }
    EXPECT_EQ(s.reports(), "") << n;
  }
  Session s(Environment{{"FD_SOFTGPU_FAIL", "1:35"}}, 0);
  ::setenv("FD_SOFTGPU_DEVICES", "1", 1);
  fd_softgpu_reset();
  EXPECT_EQ(cuInit(0), 35);
  EXPECT_EQ(cuInit(0), 0);
}

// A wait that is left out is one that nobody asked for: the copy is reported as not waited for.
TEST(Driver, ACallCanBeIgnored) {
  for (const bool ignored : {false, true}) {
    Session s(ignored ? Environment{{"FD_SOFTGPU_IGNORE", "cuStreamSynchronize:2"}} : Environment{});
    const CUdeviceptr p = s.upload(std::vector<int>{1, 2});
    const CUstream stream = s.stream();
    int first = 0, second = 0;
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(&first, p, 4, stream), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(&second, p + 4, 4, stream), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, ignored ? -1 : 2);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
  }
}

// Of two calls in the source, by the place that a run before wrote down; both calls of the one.
TEST(Driver, CallsFromAPlaceCanBeIgnored) {
  const std::string path = testing::TempDir() + "fd_softgpu_places";
  std::remove(path.c_str());
  const auto look = [&](Session& s) {
    const CUdeviceptr p = s.upload(std::vector<int>{1, 2, 3});
    const CUstream stream = s.stream();
    std::vector<int> seen(3), now;
    const auto copy = [&](std::size_t k) { return cuMemcpyDtoHAsync_v2(&seen[k], p + 4 * k, 4, stream); };
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(copy(k), 0);
      cuStreamSynchronize(stream);
      now.push_back(seen[k]);
    }
    EXPECT_EQ(copy(2), 0);
    cuStreamSynchronize(stream);
    now.push_back(seen[2]);
    EXPECT_EQ(fd_softgpu_pending(), now[2] == 3 ? 0u : 1u);
    cuCtxSynchronize();
    return now;
  };
  {
    Session s(Environment{{"FD_SOFTGPU_PLACES", path}});
    EXPECT_EQ(look(s), (std::vector<int>{1, 2, 3}));
  }
  std::vector<std::string> places;
  std::ifstream file(path);
  for (std::string name, place; file >> name >> place;)
    if (name == "cuStreamSynchronize") places.push_back(place);
  std::remove(path.c_str());
  ASSERT_EQ(places.size(), 2u);
  std::set<std::vector<int>> found;
  for (const std::string& place : places) {
    Session s(Environment{{"FD_SOFTGPU_IGNORE", "cuStreamSynchronize@" + place.substr(0, place.find(','))}});
    found.insert(look(s));
    EXPECT_NE(s.reports().find("cuStreamSynchronize left out on demand"), std::string::npos);
  }
  EXPECT_EQ(found, (std::set<std::vector<int>>{{1, 2, -1}, {-1, -1, 3}}));
}

TEST(Driver, AFileReplacesAModuleThatHasItsKernels) {
  const std::string path = testing::TempDir() + "fd_softgpu_replace.ptx";
  for (const bool same_name : {true, false}) {
    std::string other = kernel("st.global.u32 [%rd3], 7;");
    if (!same_name) other.replace(other.find(".entry k"), 8, ".entry q");
    std::ofstream(path) << other;
    Session s(Environment{{"FD_SOFTGPU_REPLACE", path}});
    const CUdeviceptr p = s.memory(4);
    EXPECT_EQ(s.run(kernel("st.global.u32 [%rd3], 5;"), 1, 1, p), 0);
    EXPECT_EQ(s.download<int>(p, 1)[0], same_name ? 7 : 5);
  }
  std::remove(path.c_str());
}

TEST(Driver, LeaksAreReportedWhenTheContextEnds) {
  for (const int what : {0, 1, 2, 3, 4, 5}) {
    Session s;
    const CUdeviceptr p = s.memory(100);
    void* pinned = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&pinned, 10, 0), 0);
    const CUstream x = s.stream();
    const CUevent e = s.event();
    const CUmodule m = s.load(kernel(""));
    if (what != 1) {
      EXPECT_EQ(cuMemFree_v2(p), 0);
    }
    if (what != 2) {
      EXPECT_EQ(cuStreamDestroy_v2(x), 0);
    }
    if (what != 3) {
      EXPECT_EQ(cuEventDestroy_v2(e), 0);
    }
    if (what != 4) {
      EXPECT_EQ(cuModuleUnload(m), 0);
    }
    if (what != 5) {
      EXPECT_EQ(cuMemFreeHost(pinned), 0);
    }
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
    const char* said[] = {"", "1 allocations (100 bytes)", "1 streams", "1 events", "1 modules", "1 of pinned"};
    if (what == 0) {
      EXPECT_EQ(s.reports(), "");
    }
    if (what != 0) {
      EXPECT_NE(s.reports().find(said[what]), std::string::npos) << s.reports();
    }
  }
}

TEST(Driver, LaunchesThatCannotBe) {
  Session s;
  const CUfunction f = s.function(kernel(""));
  EXPECT_EQ(s.launch(f, 0, 32), 1);
  EXPECT_EQ(s.launch(f, 1, 1025), 1);
  void* arguments[3] = {};
  EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 50000, nullptr, arguments, nullptr), 1);
  EXPECT_EQ(cuFuncSetAttribute(f, 8, 200000), 1);
  EXPECT_EQ(cuFuncSetAttribute(f, 8, 100000), 0);
  int blocks = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 80000), 0);
  EXPECT_EQ(blocks, 2);
}

TEST(Driver, TimeBetweenEvents) {
  Session s;
  CUevent a = nullptr, b = nullptr;
  EXPECT_EQ(cuEventCreate(&a, 0), 0);
  EXPECT_EQ(cuEventCreate(&b, 0), 0);
  const CUstream x = s.stream();
  const CUdeviceptr p = s.memory(1 << 20);
  EXPECT_EQ(cuEventRecord(a, x), 0);
  EXPECT_EQ(cuMemsetD32Async(p, 1, 1 << 18, x), 0);
  EXPECT_EQ(cuEventRecord(b, x), 0);
  float ms = -1;
  EXPECT_EQ(cuEventElapsedTime(&ms, a, b), not_ready);
  EXPECT_EQ(cuEventSynchronize(b), 0);
  EXPECT_EQ(cuEventElapsedTime(&ms, a, b), 0);
  EXPECT_GT(ms, 0);
}

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Driver, CountersAndCoverage) {
  const std::string counters = ::testing::TempDir() + "softgpu_counters.json",
                    coverage = ::testing::TempDir() + "softgpu_coverage.txt";
  std::remove(coverage.c_str());
  const std::string text = kernel(
      "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nmul.wide.u32 %rd5, %r2, 128; mov.u32 %r4, s;\nL: shl.b32 %r5, %r2, 5;\nadd.u32 "
      "%r5, %r5, %r4;\nst.global.u32 [%rd3], %r2;");
  for (const int n : {0, 0, 9}) {
    Session s(Environment{{"FD_SOFTGPU_COUNTERS", counters}, {"FD_SOFTGPU_COVERAGE", coverage}});
    const CUdeviceptr a = s.memory(256);
    EXPECT_EQ(s.run(text, 1, 64, a, a, n), 0);
    fd_softgpu_reset();
    if (n == 0) {
      EXPECT_NE(content(coverage).find("\n0\tk\tsm_80\t13\tmul.wide.u32"), std::string::npos) << content(coverage);
    }
  }
  EXPECT_NE(content(coverage).find("\n4\tk\tsm_80\t13\tmul.wide.u32"), std::string::npos)
      << "two instructions of the line, two warps: " << content(coverage);
  EXPECT_NE(content(coverage).find("6\tk\tsm_80\t16\tst.global.u32"), std::string::npos) << "three runs are added up";
  EXPECT_NE(content(counters).find("\"kernel\": \"k\", \"sm\": 80, \"launches\": 1, \"blocks\": 1"), std::string::npos)
      << content(counters);
  EXPECT_NE(content(counters).find("\"sectors\": 8, \"ideal_sectors\": 8"), std::string::npos) << content(counters);
}

TEST(Driver, BankConflictsAreCounted) {
  const std::string counters = ::testing::TempDir() + "softgpu_counters.json";
  for (const auto& [stride, waves] : {std::pair{4, 1}, std::pair{8, 2}, std::pair{32, 8}}) {
    Session s(Environment{{"FD_SOFTGPU_COUNTERS", counters}});
    EXPECT_EQ(
        s.run(kernel("mov.u32 %r4, s; mad.lo.u32 %r5, %r2, " + std::to_string(stride) + ", %r4; st.shared.u32 [%r5], 1;"), 1, 32),
        0);
    fd_softgpu_reset();
    EXPECT_NE(content(counters).find("\"wavefronts\": " + std::to_string(waves) + ", \"ideal_wavefronts\": 1"), std::string::npos)
        << content(counters);
  }
}

}  // namespace
}  // namespace softgpu_test
