#include "self/support.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace softgpu_test {

std::string kernel(const std::string& body, const std::string& before, int sm) {
  return ".version 8.0\n.target sm_" + std::to_string(sm) + "\n.address_size 64\n" + before +
         R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {
  .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<64>; .reg .f32 %f<64>; .reg .f64 %fd<32>;
  .shared .align 16 .b8 s[1024];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3;
)" + body +
         "\n  ret;\n}\n";
}

Session::Session(Environment environment, int devices) : environment_(std::move(environment)) {
  report_ = ::testing::TempDir() + "softgpu_report_" + std::to_string(::getpid());
  ::unlink(report_.c_str());
  environment_["FD_SOFTGPU_REPORT"] = report_;
  environment_.emplace("FD_SOFTGPU_DEVICES", std::to_string(devices));
  for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
  fd_softgpu_reset();
  if (devices == 0) return;
  EXPECT_EQ(cuInit(0), 0);
  contexts.resize(static_cast<std::size_t>(devices));
  for (int d = 0; d < devices; ++d) EXPECT_EQ(cuDevicePrimaryCtxRetain(&contexts[static_cast<std::size_t>(d)], d), 0);
  EXPECT_EQ(cuCtxSetCurrent(contexts[0]), 0);
}

Session::~Session() {
  for (const auto& [name, value] : environment_) ::unsetenv(name.c_str());
  ::unlink(report_.c_str());
  fd_softgpu_reset();
}

std::string Session::reports() const {
  std::stringstream text;
  text << std::ifstream(report_).rdbuf();
  return text.str();
}

CUmodule Session::load(const std::string& ptx) {
  CUmodule m = nullptr;
  EXPECT_EQ(cuModuleLoadData(&m, ptx.c_str()), 0) << reports();
  return m;
}
CUfunction Session::function(const std::string& ptx, const char* name) {
  CUfunction f = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&f, load(ptx), name), 0);
  return f;
}
CUdeviceptr Session::memory(std::size_t bytes) {
  CUdeviceptr p = 0;
  EXPECT_EQ(cuMemAlloc_v2(&p, bytes), 0);
  return p;
}
CUstream Session::stream() {
  CUstream s = nullptr;
  EXPECT_EQ(cuStreamCreate(&s, 1), 0);
  return s;
}
CUevent Session::event() {
  CUevent e = nullptr;
  EXPECT_EQ(cuEventCreate(&e, 2), 0);
  return e;
}

int Session::launch(CUfunction f, unsigned blocks, unsigned threads, CUdeviceptr a, CUdeviceptr b, int n, CUstream s) {
  void* arguments[] = {&a, &b, &n};
  return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, s, arguments, nullptr);
}
int Session::run(const std::string& ptx, unsigned blocks, unsigned threads, CUdeviceptr a, CUdeviceptr b, int n) {
  const CUfunction f = function(ptx);
  if (!f) return -1;
  const CUstream s = stream();
  if (const int r = launch(f, blocks, threads, a, b, n, s)) return r;
  return cuStreamSynchronize(s);
}

}  // namespace softgpu_test
