// What the tests of the software GPU share: its driver functions, a session on a fresh machine, PTX around a few lines.
//
// A session sets environment variables, resets the machine, collects what it reports, and undoes all that.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

extern "C" {
typedef struct Ctx* CUcontext;
typedef struct Str* CUstream;
typedef struct Evt* CUevent;
typedef struct Mod* CUmodule;
typedef struct Fun* CUfunction;
typedef unsigned long long CUdeviceptr;
int cuInit(unsigned);
int cuDriverGetVersion(int*);
int cuGetErrorName(int, const char**);
int cuDeviceGetCount(int*);
int cuDeviceGetAttribute(int*, int, int);
int cuDevicePrimaryCtxRetain(CUcontext*, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(CUcontext);
int cuCtxSynchronize();
int cuCtxEnablePeerAccess(CUcontext, unsigned);
int cuDeviceCanAccessPeer(int*, int, int);
int cuModuleLoadData(CUmodule*, const void*);
int cuModuleLoadDataEx(CUmodule*, const void*, unsigned, const int*, void**);
int cuModuleUnload(CUmodule);
int cuModuleGetFunction(CUfunction*, CUmodule, const char*);
int cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, CUmodule, const char*);
int cuFuncSetAttribute(CUfunction, int, int);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, CUfunction, int, size_t);
int cuMemAlloc_v2(CUdeviceptr*, size_t);
int cuMemFree_v2(CUdeviceptr);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemFreeHost(void*);
int cuMemHostGetDevicePointer_v2(CUdeviceptr*, void*, unsigned);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemcpyHtoD_v2(CUdeviceptr, const void*, size_t);
int cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
int cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, size_t, CUstream);
int cuMemcpyDtoHAsync_v2(void*, CUdeviceptr, size_t, CUstream);
int cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
int cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
int cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
int cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
int cuStreamCreate(CUstream*, unsigned);
int cuStreamDestroy_v2(CUstream);
int cuStreamSynchronize(CUstream);
int cuStreamQuery(CUstream);
int cuStreamWaitEvent(CUstream, CUevent, unsigned);
int cuLaunchHostFunc(CUstream, void (*)(void*), void*);
int cuEventCreate(CUevent*, unsigned);
int cuEventDestroy_v2(CUevent);
int cuEventRecord(CUevent, CUstream);
int cuEventSynchronize(CUevent);
int cuEventQuery(CUevent);
int cuEventElapsedTime(float*, CUevent, CUevent);
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);
void fd_softgpu_reset();
unsigned long long fd_softgpu_pending();
}

namespace softgpu_test {

constexpr int illegal_address = 700, launch_failed = 719, not_ready = 600;

// A kernel `k` with pointers a, b (loaded into %rd1, %rd2) and an integer n (%r1); %r2 is the thread's number in its block, %r3 the block's, %rd3 = a + 4 thread,
// %rd4 = b + 4 thread. Free: %r4.., %rd5.., %f, %fd, %h, %p, and 1024 bytes of shared memory `s`.
std::string kernel(const std::string& body, const std::string& before = "", int sm = 80);

using Environment = std::map<std::string, std::string>;

class Session {
 public:
  explicit Session(Environment environment = {}, int devices = 1);
  Session(const Session&) = delete;
  ~Session();
  std::string reports() const;  // since the session began

  CUmodule load(const std::string& ptx);
  CUfunction function(const std::string& ptx, const char* name = "k");
  CUdeviceptr memory(std::size_t bytes);
  CUstream stream();
  CUevent event();
  template <class T>
  CUdeviceptr upload(const std::vector<T>& v) {
    const CUdeviceptr p = memory(v.size() * sizeof(T));
    EXPECT_EQ(cuMemcpyHtoD_v2(p, v.data(), v.size() * sizeof(T)), 0);
    return p;
  }
  template <class T>
  std::vector<T> download(CUdeviceptr p, std::size_t n) {
    std::vector<T> v(n);
    EXPECT_EQ(cuMemcpyDtoH_v2(v.data(), p, n * sizeof(T)), 0) << reports();
    return v;
  }
  int launch(CUfunction f, unsigned blocks, unsigned threads, CUdeviceptr a = 0, CUdeviceptr b = 0, int n = 0,
             CUstream s = nullptr);
  // Loads, launches, waits; the result of the wait.
  int run(const std::string& ptx, unsigned blocks, unsigned threads, CUdeviceptr a = 0, CUdeviceptr b = 0, int n = 0);

  std::vector<CUcontext> contexts;

 private:
  Environment environment_;
  std::string report_;
};

}  // namespace softgpu_test
