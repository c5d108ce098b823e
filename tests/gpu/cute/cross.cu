// The main loops of the kernels once more, in CuTe: who holds which entry of a matrix is NVIDIA's knowledge here, not ours. What cross_check.cpp compares.
#include <cute/tensor.hpp>

using namespace cute;
using Half = cutlass::half_t;

namespace {

constexpr int Depth = 32, Rows = 64, Columns = 64, Width = 8;  // coordinates; of a tile; columns of weights
using Swizzled = decltype(composition(Swizzle<2, 3, 3>{}, Layout<Shape<_8, Int<Depth>>, Stride<Int<Depth>, _1>>{}));
using PointsLayout = decltype(tile_to_shape(Swizzled{}, Shape<Int<Columns>, Int<Depth>, _2, _2>{}));  // column, coordinate, part, stage
using WeightsLayout = Layout<Shape<Int<Width>, Int<Columns>, _2, _2>, Stride<_1, Int<Width>, Int<Width * Columns>, Int<2 * Width * Columns>>>;

struct Storage {
  alignas(128) Half points[cosize_v<PointsLayout>];
  alignas(128) Half weights[cosize_v<WeightsLayout>];
  alignas(16) float norms[2][Columns];
};

__device__ float power(float t) {
  float e;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(t));
  return e;
}

}  // namespace

// Y = K W for K_ij = 2^(x_i.x_j - n_i - n_j), the diagonal included. Of a row of points 32 high and 32 low parts (times 2^11), of weights 8 and 8.
extern "C" __global__ void __launch_bounds__(128) cute_halves(Half const* points, Half const* weights, float const* norms, float* sums, int n) {
  extern __shared__ __align__(128) char memory[];
  Storage& s = *reinterpret_cast<Storage*>(memory);
  Tensor gx = make_tensor(make_gmem_ptr(points), make_shape(n, Int<Depth>{}, _2{}), make_stride(Int<2 * Depth>{}, _1{}, Int<Depth>{}));
  Tensor gw = make_tensor(make_gmem_ptr(weights), make_shape(Int<Width>{}, n, _2{}), make_stride(_1{}, Int<2 * Width>{}, Int<Width>{}));
  Tensor sx = make_tensor(make_smem_ptr(s.points), PointsLayout{});
  Tensor sw = make_tensor(make_smem_ptr(s.weights), WeightsLayout{});

  auto copy_x = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, Half>{}, Layout<Shape<_32, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{});
  auto from = copy_x.get_slice(threadIdx.x);
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_4, _1, _1>>{}, Tile<Int<Rows>, _16, _16>{});
  auto slice = mma.get_slice(threadIdx.x);
  Tensor high_rows = local_tile(gx(_, _, 0), Shape<Int<Rows>, Int<Depth>>{}, make_coord(blockIdx.x, 0));
  Tensor low_rows = local_tile(gx(_, _, 1), Shape<Int<Rows>, Int<Depth>>{}, make_coord(blockIdx.x, 0));
  Tensor high = slice.partition_fragment_A(high_rows), low = slice.partition_fragment_A(low_rows);
  copy(AutoVectorizingCopy{}, slice.partition_A(high_rows), high);
  copy(AutoVectorizingCopy{}, slice.partition_A(low_rows), low);
  Tensor lowest = make_fragment_like(low);
  for (int e = 0; e < size(low); ++e) lowest(e) = Half(float(low(e)) * 0x1p-11f);

  auto load_x = make_tiled_copy_B(Copy_Atom<SM75_U32x4_LDSM_N, Half>{}, mma);
  auto load_x_slice = load_x.get_slice(threadIdx.x);
  auto mma_w = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_4, _1, _1>>{}, Tile<Int<Rows>, _8, _16>{});
  auto slice_w = mma_w.get_slice(threadIdx.x);
  auto load_w = make_tiled_copy_B(Copy_Atom<SM75_U16x4_LDSM_T, Half>{}, mma_w);
  auto load_w_slice = load_w.get_slice(threadIdx.x);
  Tensor y = partition_fragment_C(mma_w, Shape<Int<Rows>, Int<Width>>{});
  Tensor fine = make_fragment_like(y);
  clear(y);
  clear(fine);

  const auto fetch = [&](int tile, int stage) {
    for (int part = 0; part < 2; ++part)
      copy(copy_x, from.partition_S(local_tile(gx(_, _, part), Shape<Int<Columns>, Int<Depth>>{}, make_coord(tile, 0))), from.partition_D(sx(_, _, part, stage)));
    const int column = threadIdx.x / 2, part = threadIdx.x % 2;
    SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(*reinterpret_cast<uint128_t const*>(&gw(0, tile * Columns + column, part)),
                                               *reinterpret_cast<uint128_t*>(raw_pointer_cast(&sw(0, column, part, stage))));
    if (threadIdx.x < Columns / 4)
      SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(*reinterpret_cast<uint128_t const*>(norms + tile * Columns + 4 * threadIdx.x),
                                                 *reinterpret_cast<uint128_t*>(&s.norms[stage][4 * threadIdx.x]));
    cp_async_fence();
  };

  fetch(0, 0);
  for (int tile = 0; tile < n / Columns; ++tile) {
    const int stage = tile % 2;
    if ((tile + 1) * Columns < n) {
      fetch(tile + 1, stage ^ 1);
      cp_async_wait<1>();
    } else {
      cp_async_wait<0>();
    }
    __syncthreads();
    for (int j = 0; j < Columns / 16; ++j) {
      Tensor high_columns = local_tile(sx(_, _, 0, stage), Shape<_16, Int<Depth>>{}, make_coord(j, 0));
      Tensor low_columns = local_tile(sx(_, _, 1, stage), Shape<_16, Int<Depth>>{}, make_coord(j, 0));
      Tensor h = slice.partition_fragment_B(high_columns), l = slice.partition_fragment_B(low_columns);
      copy(load_x, load_x_slice.partition_S(high_columns), load_x_slice.retile_D(h));
      copy(load_x, load_x_slice.partition_S(low_columns), load_x_slice.retile_D(l));
      Tensor c = partition_fragment_C(mma, Shape<Int<Rows>, _16>{});
      Tensor small = make_fragment_like(c);
      clear(c);
      clear(small);
      gemm(mma, high, h, c);
      gemm(mma, high, l, small);
      gemm(mma, low, h, small);
      gemm(mma, lowest, l, small);
      // entries become the first operand of the second product
      const Tensor where = slice.partition_C(make_identity_tensor(Shape<Int<Rows>, _16>{}));
      Tensor entries = make_tensor<Half>(Shape<Shape<_2, _2, _2>, _1, _1>{}), rest = make_fragment_like(entries);
      for (int e = 0; e < size(c); ++e) {
        const float n_i = norms[blockIdx.x * Rows + get<0>(where(e))], n_j = s.norms[stage][16 * j + get<1>(where(e))];
        const float k = power(fmaf(small(e), 0x1p-11f, c(e) - n_i) - n_j);
        entries(e) = Half(k);
        rest(e) = Half((k - float(entries(e))) * 2048);
      }
      Tensor wh = local_tile(sw(_, _, 0, stage), Shape<Int<Width>, _16>{}, make_coord(0, j));
      Tensor wl = local_tile(sw(_, _, 1, stage), Shape<Int<Width>, _16>{}, make_coord(0, j));
      Tensor fh = slice_w.partition_fragment_B(wh), fl = slice_w.partition_fragment_B(wl);
      copy(load_w, load_w_slice.partition_S(wh), load_w_slice.retile_D(fh));
      copy(load_w, load_w_slice.partition_S(wl), load_w_slice.retile_D(fl));
      gemm(mma_w, entries, fh, y);
      gemm(mma_w, entries, fl, fine);
      gemm(mma_w, rest, fh, fine);
    }
    __syncthreads();
  }
  Tensor gy = make_tensor(make_gmem_ptr(sums), make_shape(n, Int<Width>{}), make_stride(Int<Width>{}, _1{}));
  Tensor out = slice_w.partition_C(local_tile(gy, Shape<Int<Rows>, Int<Width>>{}, make_coord(blockIdx.x, 0)));
  for (int e = 0; e < size(y); ++e) out(e) = fmaf(fine(e), 0x1p-11f, y(e));
}

// X Z^T in fp64 for 64 rows each; `depth` is a multiple of 4.
extern "C" __global__ void __launch_bounds__(128) cute_doubles(double const* x, double const* z, double* products, int depth) {
  auto mma = make_tiled_mma(SM80_8x8x4_F64F64F64F64_TN{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _4>{});
  auto slice = mma.get_slice(threadIdx.x);
  Tensor a = make_tensor(make_gmem_ptr(x), make_shape(Int<Rows>{}, depth), make_stride(depth, _1{}));
  Tensor b = make_tensor(make_gmem_ptr(z), make_shape(Int<Columns>{}, depth), make_stride(depth, _1{}));
  Tensor c = make_tensor(make_gmem_ptr(products), Shape<Int<Rows>, Int<Columns>>{}, Stride<Int<Columns>, _1>{});
  Tensor sums = slice.partition_fragment_C(c);
  clear(sums);
  for (int k = 0; k < depth / 4; ++k) {
    Tensor of_a = slice.partition_A(local_tile(a, Shape<Int<Rows>, _4>{}, make_coord(0, k)));
    Tensor of_b = slice.partition_B(local_tile(b, Shape<Int<Columns>, _4>{}, make_coord(0, k)));
    Tensor held_a = make_fragment_like(of_a), held_b = make_fragment_like(of_b);
    copy(of_a, held_a);
    copy(of_b, held_b);
    gemm(mma, held_a, held_b, sums);
  }
  copy(sums, slice.partition_C(c));
}

// Its shared memory, for who launches it.
extern "C" __global__ void cute_halves_bytes(int* bytes) { *bytes = sizeof(Storage); }
