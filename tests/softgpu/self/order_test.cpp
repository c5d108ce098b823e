// Streams, events, the host: what is not ordered is reported under every seed, and what is ordered under none.
#include <thread>

#include "self/support.hpp"

namespace softgpu_test {
namespace {

constexpr int seeds = 20;
const std::string write_a = kernel("st.global.u32 [%rd3], %r2;");
const std::string read_a = kernel("ld.global.u32 %r4, [%rd3]; st.global.u32 [%rd4], %r4;");

// Two streams share memory; `first` and `second` queue work on them, with an event between or not.
template <class A, class B>
void expect_race(A first, B second) {
  for (const bool ordered : {true, false})
    for (int seed = 1; seed <= seeds; ++seed) {
      Session s(Environment{{"FD_SOFTGPU_SEED", std::to_string(seed)}});
      const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.upload(std::vector<std::uint32_t>(64, 4));
      const CUstream x = s.stream(), y = s.stream();
      const CUevent e = s.event();
      first(s, a, b, x);
      if (ordered) {
        EXPECT_EQ(cuEventRecord(e, x), 0);
        EXPECT_EQ(cuStreamWaitEvent(y, e, 0), 0);
      }
      second(s, a, b, y);
      const int result = cuCtxSynchronize();
      EXPECT_EQ(result, ordered ? 0 : launch_failed) << "seed " << seed;
      EXPECT_EQ(s.reports().find("race between streams") != std::string::npos, !ordered) << s.reports();
    }
}
const auto kernel_writes = [](Session& s, CUdeviceptr a, CUdeviceptr b, CUstream x) {
  EXPECT_EQ(s.launch(s.function(write_a), 1, 64, a, b, 0, x), 0);
};
const auto kernel_reads = [](Session& s, CUdeviceptr a, CUdeviceptr b, CUstream x) {
  EXPECT_EQ(s.launch(s.function(read_a), 1, 64, a, b, 0, x), 0);
};
const auto fills = [](Session&, CUdeviceptr a, CUdeviceptr, CUstream x) { EXPECT_EQ(cuMemsetD32Async(a, 1, 64, x), 0); };
const auto copies = [](Session&, CUdeviceptr a, CUdeviceptr b, CUstream x) { EXPECT_EQ(cuMemcpyDtoDAsync_v2(b, a, 256, x), 0); };
const auto updates = [](Session& s, CUdeviceptr a, CUdeviceptr b, CUstream x) {
  EXPECT_EQ(s.launch(s.function(kernel("red.global.add.u32 [%rd3], 1;")), 1, 64, a, b, 0, x), 0);
};

TEST(Order, WriteThenRead) { expect_race(kernel_writes, kernel_reads); }
TEST(Order, ReadThenWrite) { expect_race(kernel_reads, kernel_writes); }
TEST(Order, WriteThenWrite) { expect_race(kernel_writes, fills); }
TEST(Order, CopyThenFill) { expect_race(copies, fills); }
TEST(Order, FillThenCopy) { expect_race(fills, copies); }
TEST(Order, UpdateThenRead) { expect_race(updates, kernel_reads); }
TEST(Order, ReadThenUpdate) { expect_race(kernel_reads, updates); }

TEST(Order, ReadsAndUpdatesDoNotRaceAmongThemselves) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256), c = s.memory(256);
  const CUstream x = s.stream(), y = s.stream();
  kernel_reads(s, a, b, x);
  kernel_reads(s, a, c, y);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  updates(s, a, b, x);
  updates(s, a, b, y);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  EXPECT_EQ(s.download<std::uint32_t>(a, 64), std::vector<std::uint32_t>(64, 5));
  EXPECT_EQ(s.reports(), "");
}

TEST(Order, BothOfTwoReadersAreRemembered) {
  for (const int waited : {0, 1}) {  // the writer waits for one of them only
    Session s(Environment{{"FD_SOFTGPU_SEED", std::to_string(waited + 1)}});
    const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256), c = s.memory(256);
    const CUstream x = s.stream(), y = s.stream(), z = s.stream();
    const CUevent e = s.event();
    kernel_reads(s, a, b, x);
    kernel_reads(s, a, c, y);
    EXPECT_EQ(cuEventRecord(e, waited ? x : y), 0);
    EXPECT_EQ(cuStreamWaitEvent(z, e, 0), 0);
    fills(s, a, b, z);
    EXPECT_EQ(cuCtxSynchronize(), launch_failed);
  }
}

TEST(Order, ThroughThirdStreamsAndTheHost) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256);
  const CUstream x = s.stream(), y = s.stream(), z = s.stream();
  const CUevent e = s.event(), f = s.event();
  fills(s, a, b, x);
  EXPECT_EQ(cuEventRecord(e, x), 0);
  EXPECT_EQ(cuStreamWaitEvent(y, e, 0), 0);
  EXPECT_EQ(cuEventRecord(f, y), 0);
  EXPECT_EQ(cuStreamWaitEvent(z, f, 0), 0);
  copies(s, a, b, z);
  EXPECT_EQ(cuEventRecord(e, z), 0);
  EXPECT_EQ(cuEventSynchronize(e), 0);
  fills(s, a, b, y);
  EXPECT_EQ(cuStreamSynchronize(y), 0);
  EXPECT_EQ(s.reports(), "");
}

TEST(Order, QueriesCountOnceTheySucceed) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256);
  const CUstream x = s.stream(), y = s.stream();
  const CUevent e = s.event();
  kernel_writes(s, a, b, x);
  EXPECT_EQ(cuEventRecord(e, x), 0);
  int tries = 0;
  while (cuEventQuery(e) == not_ready && ++tries < 100) {
  }
  kernel_reads(s, a, b, y);
  while (cuStreamQuery(y) == not_ready && ++tries < 100) {
  }
  EXPECT_LT(tries, 100);
  EXPECT_EQ(cuMemFree_v2(a), 0);
  EXPECT_EQ(s.reports(), "");
}

// Synchronous fills are asynchronous for the host, and a stream that does not block does not wait for the default one.
TEST(Order, DefaultStream) {
  for (const bool blocking : {true, false}) {
    Session s;
    const CUdeviceptr a = s.memory(256), b = s.memory(256);
    CUstream x = nullptr;
    EXPECT_EQ(cuStreamCreate(&x, blocking ? 0 : 1), 0);
    EXPECT_EQ(cuMemsetD32_v2(a, 1, 64), 0);
    kernel_reads(s, a, b, x);
    EXPECT_EQ(cuCtxSynchronize(), blocking ? 0 : launch_failed);
  }
}

TEST(Order, CopiesToTheHostArriveWithTheWait) {
  for (int seed = 1; seed <= seeds; ++seed) {
    Session s(Environment{{"FD_SOFTGPU_SEED", std::to_string(seed)}});
    const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3));
    const CUstream x = s.stream(), y = s.stream();
    std::vector<std::uint32_t> to(64, 9);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.data(), a, 256, x), 0);
    EXPECT_EQ(to[5], ~0u) << "nothing to see before the wait";
    EXPECT_EQ(cuStreamSynchronize(y), 0);
    EXPECT_EQ(to[5], ~0u) << "another stream's wait is none";
    EXPECT_EQ(cuStreamSynchronize(x), 0);
    EXPECT_EQ(to[5], 3u);
  }
}

TEST(Order, CopiesToTheHostThatNobodyWaitedFor) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3));
  const CUstream x = s.stream();
  std::vector<std::uint32_t> to(64);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(to.data(), a, 256, x), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_NE(s.reports().find("never waited for"), std::string::npos);
}

TEST(Order, PinnedMemoryMustNotChangeUnderACopy) {
  for (const bool waits : {true, false}) {
    Session s;
    const CUdeviceptr a = s.memory(256);
    const CUstream x = s.stream();
    void* p = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&p, 256, 0), 0);
    auto* values = static_cast<std::uint32_t*>(p);
    for (unsigned k = 0; k < 64; ++k) values[k] = k;
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(a, p, 256, x), 0);
    if (waits) {
      EXPECT_EQ(cuStreamSynchronize(x), 0);
    }
    values[7] = 100;
    EXPECT_EQ(cuStreamSynchronize(x), waits ? 0 : launch_failed);
    EXPECT_EQ(s.reports().find("race with the host") != std::string::npos, !waits);
    EXPECT_EQ(cuMemFreeHost(p), 0);
  }
}

TEST(Order, FreeingWhatIsInUse) {
  for (const bool waits : {true, false}) {
    Session s;
    const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3)), b = s.memory(256);
    const CUstream x = s.stream();
    kernel_reads(s, a, b, x);
    if (waits) {
      EXPECT_EQ(cuStreamSynchronize(x), 0);
    }
    const int freed = cuMemFree_v2(a), later = cuCtxSynchronize();  // the one if the kernel ran before, the other if it runs now
    EXPECT_EQ(freed == 0 && later == 0, waits);
    EXPECT_EQ(s.reports().empty(), waits) << s.reports();
  }
}

TEST(Order, UseAfterFree) {
  Session s;
  const CUdeviceptr a = s.memory(256), b = s.memory(256);
  EXPECT_EQ(cuMemFree_v2(a), 0);
  EXPECT_EQ(s.run(write_a, 1, 64, a, b), illegal_address);
  EXPECT_NE(s.reports().find("memory that was freed"), std::string::npos);
}

TEST(Order, FreedTwice) {
  Session s;
  const CUdeviceptr a = s.memory(256);
  EXPECT_EQ(cuMemFree_v2(a), 0);
  EXPECT_EQ(cuMemFree_v2(a), 1);
  EXPECT_NE(s.reports().find("freed twice"), std::string::npos);
}

TEST(Order, CopiesBetweenDevicesAndPeerAccess) {
  for (int seed = 1; seed <= seeds; ++seed)
    for (const bool ordered : {true, false}) {
      Session s(Environment{{"FD_SOFTGPU_SEED", std::to_string(seed)}}, 2);
      const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3));
      const CUstream x = s.stream();
      const CUevent e = s.event();
      fills(s, a, 0, x);
      EXPECT_EQ(cuEventRecord(e, x), 0);
      EXPECT_EQ(cuCtxSetCurrent(s.contexts[1]), 0);
      const CUdeviceptr b = s.memory(256);
      const CUstream y = s.stream();
      if (ordered) {
        EXPECT_EQ(cuStreamWaitEvent(y, e, 0), 0);
      }
      EXPECT_EQ(cuMemcpyPeerAsync(b, s.contexts[1], a, s.contexts[0], 256, y), 0);
      const int second = cuStreamSynchronize(y);
      EXPECT_EQ(cuCtxSetCurrent(s.contexts[0]), 0);
      const int first = cuStreamSynchronize(x);  // the error is that of the stream that ran later
      EXPECT_EQ(first == 0 && second == 0, ordered);
      EXPECT_EQ(s.reports().find("race between streams") != std::string::npos, !ordered) << s.reports();
    }
  for (const bool enabled : {true, false}) {
    Session s({}, 2);
    const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3));
    EXPECT_EQ(cuCtxSetCurrent(s.contexts[1]), 0);
    if (enabled) {
      EXPECT_EQ(cuCtxEnablePeerAccess(s.contexts[0], 0), 0);
    }
    const CUdeviceptr b = s.memory(256);
    EXPECT_EQ(s.run(read_a, 1, 64, a, b), enabled ? 0 : illegal_address);
  }
}

TEST(Order, DevicesThatDoNotReachEachOther) {
  Session s({{"FD_SOFTGPU_PEERS", "0"}}, 2);
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, 3));
  EXPECT_EQ(cuCtxSetCurrent(s.contexts[1]), 0);
  int reaches = 1;
  EXPECT_EQ(cuDeviceCanAccessPeer(&reaches, 1, 0), 0);
  EXPECT_EQ(reaches, 0);
  EXPECT_EQ(cuCtxEnablePeerAccess(s.contexts[0], 0), 217);
  const CUdeviceptr b = s.memory(256);
  EXPECT_EQ(cuMemcpyPeerAsync(b, s.contexts[1], a, s.contexts[0], 256, nullptr), 0);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  EXPECT_EQ(cuMemcpyPeerAsync(b, s.contexts[0], a, s.contexts[1], 256, nullptr), 1);
  EXPECT_NE(s.reports().find("names another context"), std::string::npos);
}

TEST(Order, EventsOfAnotherContextCannotBeRecorded) {
  Session s({}, 2);
  const CUevent e = s.event();
  EXPECT_EQ(cuCtxSetCurrent(s.contexts[1]), 0);
  const CUstream y = s.stream();
  EXPECT_EQ(cuEventRecord(e, y), 400);
}

TEST(Order, HostFunctionsAndMappedMemory) {
  Session s;
  void* p = nullptr;
  EXPECT_EQ(cuMemHostAlloc(&p, 256, 0), 0);
  CUdeviceptr d = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&d, p, 0), 0);
  const CUstream x = s.stream();
  EXPECT_EQ(s.launch(s.function(write_a), 1, 64, d, d, 0, x), 0);
  int seen = -1;
  struct Look {
    std::uint32_t* from;
    int* to;
  } look{static_cast<std::uint32_t*>(p), &seen};
  EXPECT_EQ(
      cuLaunchHostFunc(
          x, [](void* data) { *static_cast<Look*>(data)->to = static_cast<int>(static_cast<Look*>(data)->from[63]); }, &look),
      0);
  EXPECT_EQ(cuStreamSynchronize(x), 0);
  EXPECT_EQ(seen, 63);
  EXPECT_EQ(cuMemFreeHost(p), 0);
}

// A thread of the host for each device, as ranks in one process do it.
TEST(Order, ThreadsOfTheHost) {
  Session s({}, 3);
  std::vector<std::uint32_t> sums(3);
  std::vector<std::thread> threads;
  for (int d = 0; d < 3; ++d)
    threads.emplace_back([&s, &sums, d] {
      EXPECT_EQ(cuCtxSetCurrent(s.contexts[static_cast<std::size_t>(d)]), 0);
      const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(64, static_cast<std::uint32_t>(d)));
      const CUstream x = s.stream();
      const CUfunction f = s.function(kernel("red.global.add.u32 [%rd3], 1;"));
      for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(s.launch(f, 10, 64, a, a, 0, x), 0);
        EXPECT_EQ(cuStreamSynchronize(x), 0);
        const CUdeviceptr b = s.memory(64);
        EXPECT_EQ(cuMemFree_v2(b), 0);
      }
      sums[static_cast<std::size_t>(d)] = s.download<std::uint32_t>(a, 64)[5];
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sums, (std::vector<std::uint32_t>{200, 201, 202}));
  EXPECT_EQ(s.reports(), "");
}

// One thread of the host, several devices: their kernels run side by side.
TEST(Order, DevicesRunSideBySide) {
  Session s({}, 4);
  std::vector<CUdeviceptr> a(4);
  std::vector<CUstream> x(4);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(cuCtxSetCurrent(s.contexts[d]), 0);
    a[d] = s.upload(std::vector<std::uint32_t>(64, 0));
    x[d] = s.stream();
    const CUfunction f = s.function(kernel("red.global.add.u32 [%rd3], 1;"));
    for (int k = 0; k < 5; ++k) EXPECT_EQ(s.launch(f, 50, 64, a[d], a[d], 0, x[d]), 0);
  }
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(cuCtxSetCurrent(s.contexts[d]), 0);
    EXPECT_EQ(cuStreamSynchronize(x[d]), 0);
    EXPECT_EQ(s.download<std::uint32_t>(a[d], 64), std::vector<std::uint32_t>(64, 250));
  }
}

// More histories than are kept without tidying up; the race after them is still found.
TEST(Order, LongRunsAreTidied) {
  Session s;
  const CUdeviceptr a = s.upload(std::vector<std::uint32_t>(1024, 0));
  const CUfunction f =
      s.function(kernel("mul.wide.u32 %rd5, %r3, 4; add.s64 %rd5, %rd5, %rd1; ld.global.u32 %r4, [%rd5]; add.u32 %r4, %r4, 1; "
                        "st.global.u32 [%rd5], %r4;"));
  const CUstream x = s.stream(), y = s.stream();
  for (int k = 0; k < 100; ++k) EXPECT_EQ(s.launch(f, 1024, 1, a, a, 0, x), 0);
  EXPECT_EQ(cuStreamSynchronize(x), 0) << s.reports();
  EXPECT_EQ(s.download<std::uint32_t>(a, 1024), std::vector<std::uint32_t>(1024, 100));
  EXPECT_EQ(s.launch(f, 1024, 1, a, a, 0, x), 0);
  fills(s, a, 0, y);
  EXPECT_EQ(cuCtxSynchronize(), launch_failed);
}

}  // namespace
}  // namespace softgpu_test
