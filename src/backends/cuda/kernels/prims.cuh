// The device primitives, one line of PTX each; all of them are there from sm_80 to sm_120. What is not here is plain CUDA C++.
#pragma once
#include <cstdint>

namespace fd::cuda {

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// One instruction, where a compiler would add a quick way for small numbers, and a branch.
__device__ __forceinline__ int64_t quotient(int64_t a, int64_t b) {
  int64_t q;
  asm("div.s64 %0, %1, %2;" : "=l"(q) : "l"(a), "l"(b));
  return q;
}
// The row and the column of number e of a table of so many columns.
struct Place {
  int row, column;
};
__device__ __forceinline__ Place place_of(int64_t e, int columns) {
  const int64_t row = quotient(e, columns);
  return {static_cast<int>(row), static_cast<int>(e - row * columns)};
}

// Asynchronous copies into shared memory, in groups that can be waited for.
__device__ __forceinline__ void copy16(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// The same number, of which a compiler does not know that it is: what is computed from it is computed where it is used, and does not fill registers
// all through a loop.
__device__ __forceinline__ int here(int x) {
  int y;
  asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

// Four 8 x 8 matrices of 16-bit numbers; lane 8 m + r names row r of matrix m, and gets of each two numbers of row lane / 4.
__device__ __forceinline__ void load4(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load4_transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ uint32_t transpose(uint32_t a) {  // an 8 x 8 matrix of 16-bit numbers spread over a warp
  uint32_t d;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a));
  return d;
}

__device__ __forceinline__ void store2(uint32_t address, float x, float y) {  // one access, which a compiler may make two of
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}

// D += A B, 16 x 8 x 16, products of 16-bit floats summed in fp32. A tensor core cuts sums, it does not round them.
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 8 x 8 x 4 in fp64: lane 4 r + c has A_rc, B_cr and D_(r, 2c), D_(r, 2c + 1). Every product and sum is rounded as in a chain of fma.
__device__ __forceinline__ void mma(double& d0, double& d1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d0), "+d"(d1) : "d"(a), "d"(b));
}

__device__ __forceinline__ float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two 16-bit floats to a register, the first in the low half.
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}
__device__ __forceinline__ float2 unpack(uint32_t v) {
  float2 f;
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}" : "=f"(f.x), "=f"(f.y) : "r"(v));
  return f;
}
__device__ __forceinline__ uint32_t multiply_halves(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

// Added in memory without waiting. Used only where one thread alone adds to an address: the order is that of the program.
__device__ __forceinline__ void add(float* p, float v) { asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory"); }
__device__ __forceinline__ void add(double* p, double v) { asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory"); }

}  // namespace fd::cuda
