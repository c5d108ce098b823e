#include "backends/cuda/pass.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "backends/cuda/lost_digits.hpp"
#include "backends/cuda/shapes.hpp"

namespace fd::cuda {
namespace {

constexpr double fused_exponent = 14;  // entries of the fused kernel are larger by 2^14 (kernels/sums.cuh)
constexpr int tensor_weights_from = 8;

int as_int(std::size_t value) { return static_cast<int>(value); }

Columns part(Columns whole, std::size_t first, std::size_t count) {
  return whole.panel != nullptr ? whole.part(first, count) : whole;
}

}  // namespace

void PassRunner::run(const Product& product) {
  device_->use();
  const std::size_t columns = product.y_x.count;
  const Arithmetic arithmetic =
      arithmetic_for(product.promise, product.beta, product.x->bounds(), product.z->bounds(), columns, product.two_sided);
  const Form form = arithmetic.form;
  try {
    for (std::size_t first = 0; first < columns;) {
      Group group{first, 2, 2};
      if (!product.mass && form == Form::fused) {
        group.width = fused_group(columns - first, product.two_sided);
        group.count = std::min<std::size_t>(columns - first, static_cast<std::size_t>(group.width));
      } else if (!product.mass) {
        group.count = std::min<std::size_t>(columns - first, direct_columns);
        group.width = as_int(group.count);
      }
      done_ = static_cast<double>(first) / static_cast<double>(columns);
      share_ = static_cast<double>(group.count) / static_cast<double>(columns);
      form == Form::fused ? fused(product, arithmetic, group) : direct(product, group);
      first += group.count;
    }
    device_->synchronize();
  } catch (...) {
    device_->drain();  // nothing is under way when buffers or the caller's memory go
    throw;
  }
  if (product.watch != nullptr) product.watch->tick(1);
}

void PassRunner::fused(const Product& product, const Arithmetic& arithmetic, const Group& group) {
  const CudaPoints &x = *product.x, &z = *product.z;
  const CudaPoints::Fused packed_x = x.fused(product.beta, arithmetic), packed_z = z.fused(product.beta, arithmetic);
  const int parts = group.width >= tensor_weights_from ? arithmetic.sum_parts : 2;
  const Columns w_x = part(product.w_x, group.first, group.count), w_z = part(product.w_z, group.first, group.count);
  pack_weights(z, w_z, group.width, parts, packed_z.factors, scales_z_, weights_z_);
  const bool rows_have_weights = product.two_sided && !product.symmetric;
  if (rows_have_weights) pack_weights(x, w_x, group.width, parts, packed_x.factors, scales_x_, weights_x_);
  const Pointer weights_x = rows_have_weights ? weights_x_.address() : product.symmetric ? weights_z_.address() : 0;

  Sweep one;
  one.width = group.width;
  one.work_per_pair = (arithmetic.parts == 2 ? 64.0 : 16.0) * packed_x.steps + 6.0 * group.width + 64;
  one.work = fused_work;
  const std::string kernel = "fused_" + std::to_string(arithmetic.parts) + "_" +
                             (product.mass ? "mass" : std::to_string(group.width)) + (parts == 1 ? "_rough" : "");
  one.launch = [&](const Blocks& blocks, Device::Grid grid) {
    grid.threads = 128;
    grid.shared_bytes = static_cast<unsigned>(fused_shared_bytes(packed_x.steps, arithmetic.parts, group.width, parts));
    const FusedArguments arguments = {blocks,
                                      packed_x.steps,
                                      arithmetic.low_low ? 1 : 0,
                                      {packed_x.packed, packed_x.norms, weights_x},
                                      {packed_z.packed, packed_z.norms, weights_z_.address()},
                                      row_slots_.address(),
                                      column_slots_.address()};
    device_->launch(kernel.c_str(), grid, arguments);
  };
  sweep(product, one);
  const double scale = std::exp2(-fused_exponent);
  const Pointer scales_z = product.mass ? 0 : scales_z_.address(), scales_x = product.mass ? 0 : scales_x_.address();
  finish(product, x, part(product.y_x, group.first, group.count), group.width, sums_x_, packed_x.factors, scales_z, scale);
  if (rows_have_weights)
    finish(product, z, part(product.y_z, group.first, group.count), group.width, sums_z_, packed_z.factors, scales_x, scale);
}

void PassRunner::direct(const Product& product, const Group& group) {
  const CudaPoints &x = *product.x, &z = *product.z;
  const bool wide = traits(x.precision()).wide_panels, rows_have_weights = product.two_sided && !product.symmetric;
  if (!wide) refuse_lost_digits(product.beta, x, z);
  const double half_square = Gaussian::point_scale(product.beta) * Gaussian::point_scale(product.beta) / 2;
  const int exponent = wide ? 0 : static_cast<int>(std::lround(std::log2(std::max(Gaussian::point_scale(product.beta), 1e-300))));
  if (!product.mass) {
    pack_weights(z, part(product.w_z, group.first, group.count), group.width, 2, 0, scales_z_, weights_z_);
    if (rows_have_weights) pack_weights(x, part(product.w_x, group.first, group.count), group.width, 2, 0, scales_x_, weights_x_);
  }
  const bool products =
      wide && multiplies_doubles(device_->capability()) && products_in_double(product.beta, x.bounds(), z.bounds());
  const Pointer halves_x = products ? x.half_squares() : 0, halves_z = products ? z.half_squares() : 0;
  Sweep one;
  one.width = group.width;
  one.wide = wide;
  one.work_per_pair = 4.0 * static_cast<double>(x.dimension()) + 2.0 * group.width + 64;
  one.work = wide ? direct_work_double : direct_work;
  const std::string kernel = std::string(products ? "products_f64"
                                         : wide   ? "direct_f64"
                                                  : "direct_f32") +
                             (product.mass ? "_mass" : "");
  const Pointer points_x = wide ? x.coordinates() : x.floats(exponent), points_z = wide ? z.coordinates() : z.floats(exponent);
  one.launch = [&](const Blocks& blocks, Device::Grid grid) {
    grid.threads = 256;
    grid.shared_bytes = static_cast<unsigned>(direct_shared_bytes(wide ? 8 : 4));
    const DirectArguments arguments = {blocks,
                                       as_int(x.dimension()),
                                       as_int(x.rows()),
                                       as_int(z.rows()),
                                       group.width,
                                       -half_square * std::exp2(-2.0 * exponent),
                                       points_x,
                                       points_z,
                                       halves_x,
                                       halves_z,
                                       rows_have_weights ? weights_x_.address() : weights_z_.address(),
                                       weights_z_.address(),
                                       row_slots_.address(),
                                       column_slots_.address()};
    device_->launch(kernel.c_str(), grid, arguments);
  };
  sweep(product, one);
  finish(product, x, part(product.y_x, group.first, group.count), group.width, sums_x_, 0, 0, 1);
  if (rows_have_weights) finish(product, z, part(product.y_z, group.first, group.count), group.width, sums_z_, 0, 0, 1);
}

std::vector<PassRunner::Cut> PassRunner::cuts(int blocks_i, int blocks_j, bool symmetric, int most) {
  constexpr int most_rows = 65535;  // of a grid
  std::vector<Cut> cuts;
  for (int i = 0; i < blocks_i;) {
    const int first_j = symmetric ? i : 0, width = blocks_j - first_j;
    const int count = width > most ? 1 : std::min({blocks_i - i, most / width, most_rows});
    for (int j = first_j; j < blocks_j; j += most) cuts.push_back({i, count, j, std::min(most, blocks_j - j)});
    i += count;
  }
  return cuts;
}

void PassRunner::sweep(const Product& product, const Sweep& one) {
  const CudaPoints &x = *product.x, &z = *product.z;
  const int block = block_rows(std::max(x.layout()->rows(), z.layout()->rows()));
  const int rows_i = as_int(x.padded_rows()), rows_j = as_int(z.padded_rows());
  const int blocks_i = (rows_i + block - 1) / block, blocks_j = (rows_j + block - 1) / block;
  const std::size_t value = one.wide ? sizeof(double) : sizeof(float),
                    slot = static_cast<std::size_t>(block) * static_cast<std::size_t>(one.width) * value;
  const double by_work = one.work / (one.work_per_pair * block * block),
               by_memory = static_cast<double>(workspace_bytes(device_->memory())) / static_cast<double>(2 * slot);
  const double most_blocks = std::min({std::max(by_work, least_blocks(device_->multiprocessors())), by_memory, 1e6});
  const auto all = cuts(blocks_i, blocks_j, product.symmetric, static_cast<int>(std::max(1.0, most_blocks)));

  std::size_t most = 0;
  double total = 0;
  for (const Cut& cut : all) {
    const std::size_t pairs = static_cast<std::size_t>(cut.count_i) * static_cast<std::size_t>(cut.count_j);
    most = std::max(most, pairs);
    total += static_cast<double>(pairs);
  }
  row_slots_.at_least(*device_, most * slot);
  if (product.two_sided) column_slots_.at_least(*device_, most * slot);
  const auto sums_bytes = [&](int rows) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(one.width) * sizeof(double);
  };
  sums_x_.at_least(*device_, sums_bytes(blocks_i * block));
  device_->fill_zero(sums_x_.address(), sums_bytes(blocks_i * block));
  const bool apart = product.two_sided && !product.symmetric;
  if (apart) {
    sums_z_.at_least(*device_, sums_bytes(blocks_j * block));
    device_->fill_zero(sums_z_.address(), sums_bytes(blocks_j * block));
  }

  double made = 0, finished = 0;  // finished: what the event that was waited for last stands for
  double at_event[2] = {0, 0};
  int turn = 0;
  for (const Cut& cut : all) {
    // at most two launches are under way: a pass can be stopped, and says how far it is
    if (made > 0) {
      events_[turn].wait();
      finished = std::max(finished, at_event[turn]);
      if (product.watch != nullptr) product.watch->tick(done_ + share_ * finished / total);
    }
    const std::size_t pairs = static_cast<std::size_t>(cut.count_i) * static_cast<std::size_t>(cut.count_j);
    const Blocks blocks = {block,
                           cut.first_i,
                           cut.first_j,
                           rows_i,
                           rows_j,
                           product.symmetric ? 1 : 0,
                           product.two_sided ? 1 : 0,
                           product.share == Share::all    ? 0
                           : product.share == Share::even ? 1
                                                          : 2};
    if (product.two_sided) device_->fill_zero(column_slots_.address(), pairs * slot);
    Device::Grid grid;
    grid.x = static_cast<unsigned>(cut.count_j), grid.y = static_cast<unsigned>(cut.count_i);
    one.launch(blocks, grid);
    AddSlots add = {
        blocks, cut.count_i, cut.count_j, one.width, column_slots_.address(), apart ? sums_z_.address() : sums_x_.address()};
    const std::size_t size = static_cast<std::size_t>(block) * static_cast<std::size_t>(one.width);
    if (product.two_sided)
      device_->launch_for(one.wide ? "add_columns_f64" : "add_columns_f32", size * static_cast<std::size_t>(cut.count_j), add);
    add.slots = row_slots_.address(), add.sums = sums_x_.address();
    device_->launch_for(one.wide ? "add_rows_f64" : "add_rows_f32", size * static_cast<std::size_t>(cut.count_i), add);
    made += static_cast<double>(pairs);
    events_[turn].record(*device_);
    at_event[turn] = made;
    turn ^= 1;
  }
}

void PassRunner::pack_weights(const CudaPoints& points, Columns w, int width, int parts, Pointer factors, Buffer& scales,
                              Buffer& packed) {
  const bool wide = traits(points.precision()).wide_panels, fused = factors != 0;
  const std::size_t padded = points.padded_rows(), numbers = padded * static_cast<std::size_t>(width);
  packed.at_least(*device_, numbers * (wide ? sizeof(double) : sizeof(float)));
  if (w.panel == nullptr) {  // mass
    const PackWeights arguments = {{0, 0, as_int(points.rows()), 0}, as_int(padded), width, parts, factors, 0, packed.address()};
    device_->launch_for("pack_weights_mass", padded, arguments);
    return;
  }
  const Window weights = window(w);
  if (fused) {
    constexpr std::size_t rows_of_piece = 256, most_pieces = 256;
    const int pieces = as_int(std::clamp<std::size_t>(points.rows() / rows_of_piece, 1, most_pieces));
    largest_.at_least(*device_, most_pieces * most_columns * sizeof(float));
    scales.at_least(*device_, 2 * most_columns * sizeof(double));
    const WeightScales arguments = {weights, largest_.address(), pieces, scales.address(), width >= tensor_weights_from ? 14 : 0};
    Device::Grid grid;
    grid.x = static_cast<unsigned>(pieces);
    device_->launch("largest_weights_f32", grid, arguments);
    grid.x = 1, grid.threads = most_columns;
    device_->launch("weight_scales", grid, arguments);
  }
  const PackWeights arguments = {weights, as_int(padded), width, parts, factors, fused ? scales.address() : 0, packed.address()};
  device_->launch_for(wide                                    ? "pack_weights_f64"
                      : fused && width >= tensor_weights_from ? "pack_weights_halves"
                                                              : "pack_weights_f32",
                      numbers, arguments);
}

void PassRunner::finish(const Product& product, const CudaPoints& points, Columns y, int width, const Buffer& sums,
                        Pointer factors, Pointer scales, double scale) {
  const Finish arguments = {window(y), width, sums.address(),       factors,
                            scales,    scale, product.mass ? 1 : 0, product.accumulate ? 1 : 0};
  device_->launch_for(is_wide(y) ? "finish_f64" : "finish_f32", points.rows() * y.count, arguments);
}

}  // namespace fd::cuda
