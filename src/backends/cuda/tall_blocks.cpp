#include "backends/cuda/tall_blocks.hpp"

#include <algorithm>
#include <vector>

namespace fd::cuda {
namespace {

constexpr std::size_t gram_pieces = 64,
                      gram_rows = 512;  // pieces of rows, at most, and rows of one, at least: the cut decides the bits

unsigned tiles(std::size_t count, std::size_t size) { return static_cast<unsigned>((count + size - 1) / size); }

const char* named(Columns a, const char* wide, const char* narrow) { return is_wide(a) ? wide : narrow; }

constexpr std::size_t sent_columns = 4;  // that are on the host at a time, as doubles

// Numbers of some places, a few columns after the other.
template <class T>
void archive_places(Archive& archive, const Layout& layout, Places some, std::size_t columns, double* rows, bool accumulate) {
  std::vector<T> places(some.count * columns);
  if (archive.reading()) archive.bytes(places.data(), places.size() * sizeof(T));
  for (std::size_t i = 0; i < some.count; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      double& number = rows[layout.local_row(some.first + i) * columns + c];
      T& place = places[i * columns + c];
      if (archive.reading()) number = static_cast<double>(place + (accumulate ? static_cast<T>(number) : T{0}));
      else place = static_cast<T>(number);
    }
  if (!archive.reading()) archive.bytes(places.data(), places.size() * sizeof(T));
}
void archive_places(Archive& archive, Columns few, Places some, double* rows, bool accumulate) {
  const Layout& layout = *few.panel->layout();
  is_wide(few) ? archive_places<double>(archive, layout, some, few.count, rows, accumulate)
               : archive_places<float>(archive, layout, some, few.count, rows, accumulate);
}

}  // namespace

Eigen::MatrixXd TallBlocks::gram(Columns a, Columns b) {
  device_->use();
  const std::size_t size = a.count * b.count, rows = a.rows();
  std::vector<double> host(size, 0.0);
  if (size > 0 && rows > 0) {
    const std::size_t piece = std::max(gram_rows, (rows + gram_pieces - 1) / gram_pieces), pieces = (rows + piece - 1) / piece;
    partial_.at_least(*device_, pieces * size * sizeof(double));
    sum_.at_least(*device_, size * sizeof(double));
    Device::Grid grid;
    grid.x = tiles(b.count, 32), grid.y = tiles(a.count, 32), grid.z = static_cast<unsigned>(pieces);
    const GramArguments arguments = {window(a), window(b), static_cast<int>(piece), partial_.address()};
    device_->launch(named(a, "gram_f64", "gram_f32"), grid, arguments);
    const GramSum sum = {partial_.address(), sum_.address(), static_cast<int>(size), static_cast<int>(pieces)};
    device_->launch_for("gram_sum", size, sum);
    double* const staged = staging_.at_least(*device_, size);
    device_->copy_to_host(staged, sum_.address(), size * sizeof(double));
    device_->synchronize();
    std::copy_n(staged, size, host.data());
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(host.data(), static_cast<Eigen::Index>(a.count), static_cast<Eigen::Index>(b.count));
}

void TallBlocks::combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) {
  if (y.count == 0 || a.rows() == 0) return;
  device_->use();
  const std::size_t size = a.count * y.count;
  double* const staged = staging_.at_least(*device_, std::max<std::size_t>(1, size));
  for (std::size_t m = 0; m < a.count; ++m)
    for (std::size_t c = 0; c < y.count; ++c)
      staged[m * y.count + c] = s(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(c));
  sum_.at_least(*device_, std::max<std::size_t>(1, size) * sizeof(double));
  device_->copy_to_device(sum_.address(), staged, size * sizeof(double));

  // In place, results wait apart until all of A has been read.
  const Window from = window(a), to = window(y);
  const std::size_t value = is_wide(y) ? sizeof(double) : sizeof(float);
  Window out = to;
  const bool in_place = a.panel == y.panel;
  if (in_place) {
    partial_.at_least(*device_, product_of(y.rows(), y.count, value));
    out = {partial_.address(), static_cast<int>(y.count), to.rows, to.count};
  }
  Device::Grid grid;
  grid.x = tiles(a.rows(), 32), grid.y = tiles(y.count, 32);
  const CombineArguments arguments = {from, out, sum_.address(), accumulate && !in_place ? 1 : 0};
  device_->launch(named(y, "combine_f64", "combine_f32"), grid, arguments);
  if (in_place) {
    const CopyArguments copy = {out, to, accumulate ? 1 : 0};
    device_->launch_for(named(y, "copy_f64", "copy_f32"), y.rows() * y.count, copy);
  }
  device_->synchronize();  // the coefficients are in memory that the next call fills
}

void TallBlocks::move(Columns a, Columns y, bool add) {
  if (y.count == 0 || a.rows() == 0) return;
  device_->use();
  Window from = window(a);
  const Window to = window(y);
  const std::size_t values = product_of(y.rows(), y.count);
  if (a.panel == y.panel) {  // windows may overlap, and no thread waits for another
    partial_.at_least(*device_, product_of(values, is_wide(y) ? sizeof(double) : sizeof(float)));
    const Window apart = {partial_.address(), from.count, from.rows, from.count};
    device_->launch_for(named(y, "copy_f64", "copy_f32"), values, CopyArguments{from, apart, 0});
    from = apart;
  }
  device_->launch_for(named(y, "copy_f64", "copy_f32"), values, CopyArguments{from, to, add ? 1 : 0});
  if (add)
    device_
        ->synchronize();  // a sum that was borrowed has been read: who lent it may change it, and the next may be borrowed in its place
}

// Columns among others are lent as a copy, which stays what it is until the next one is.
void TallBlocks::lend(Columns a, Archive& to) {
  device_->use();
  const std::size_t bytes = product_of(a.rows(), a.count, is_wide(a) ? sizeof(double) : sizeof(float));
  const Window from = window(a);
  Lent lent{device_.get(), from.data, bytes, nullptr};
  if (a.count != a.panel->columns()) {
    lent_.at_least(*device_, bytes);
    lent.address = lent_.address();
    const CopyArguments copy = {from, {lent_.address(), from.count, from.rows, from.count}, 0};
    device_->launch_for(named(a, "copy_f64", "copy_f32"), a.rows() * a.count, copy);
  }
  if (device_->busy()) lent.ready = lent_events_.record(*device_);
  to(lent);
}

void TallBlocks::scale_rows(Columns scale, Columns a, Columns y, bool add) {
  device_->use();
  const ScaleArguments arguments = {window(scale), window(a), window(y), add ? 1 : 0};
  device_->launch_for(named(a, "scale_rows_f64", "scale_rows_f32"), a.rows() * a.count, arguments);
}

void TallBlocks::randomize(Columns a, std::uint64_t seed, std::uint64_t stream) {
  device_->use();
  const RandomArguments arguments = {window(a), seed, stream, a.panel->layout()->first()};  // rows lie in their order here
  device_->launch_for(named(a, "randomize_f64", "randomize_f32"), a.rows() * a.count, arguments);
}

// f(first row, rows, staging memory) for pieces that fit into it
template <class F>
void TallBlocks::each_piece(Columns a, F&& f) {
  if (a.count == 0 || a.rows() == 0) return;
  device_->use();
  const std::size_t rows = std::min(a.rows(), std::max<std::size_t>(1, staged_values / a.count));
  double* const staged = staging_.at_least(*device_, rows * a.count);
  values_.at_least(*device_, rows * a.count * sizeof(double));
  for (std::size_t first = 0; first < a.rows(); first += rows) f(first, std::min(rows, a.rows() - first), staged);
}

void TallBlocks::upload(const double* host, Columns a) {
  const Layout& layout = *a.panel->layout();
  each_piece(a, [&](std::size_t first, std::size_t rows, double* staged) {
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(host + layout.local_row(first + i) * a.count, a.count, staged + i * a.count);
    device_->copy_to_device(values_.address(), staged, rows * a.count * sizeof(double));
    const MoveArguments arguments = {window(a), static_cast<int>(first), static_cast<int>(rows), values_.address()};
    device_->launch_for(named(a, "put_f64", "put_f32"), rows * a.count, arguments);
    device_->synchronize();
  });
}

void TallBlocks::send_rows(Columns a, Places some, Archive& to) {
  std::vector<double> rows;
  for (std::size_t first = 0; first < a.count; first += sent_columns) {
    const Columns few = a.part(first, std::min(sent_columns, a.count - first));
    rows.resize(few.rows() * few.count);
    download(few, rows.data());
    archive_places(to, few, some, rows.data(), false);
  }
}

void TallBlocks::receive_rows(Archive& from, Columns y, Places some, bool accumulate) {
  std::vector<double> rows;
  for (std::size_t first = 0; first < y.count; first += sent_columns) {
    const Columns few = y.part(first, std::min(sent_columns, y.count - first));
    rows.assign(few.rows() * few.count, 0.0);
    if (accumulate || some.count < few.rows()) download(few, rows.data());
    archive_places(from, few, some, rows.data(), accumulate);
    upload(rows.data(), few);
  }
}

void TallBlocks::download(Columns a, double* host) {
  const Layout& layout = *a.panel->layout();
  each_piece(a, [&](std::size_t first, std::size_t rows, double* staged) {
    const MoveArguments arguments = {window(a), static_cast<int>(first), static_cast<int>(rows), values_.address()};
    device_->launch_for(named(a, "take_f64", "take_f32"), rows * a.count, arguments);
    device_->copy_to_host(staged, values_.address(), rows * a.count * sizeof(double));
    device_->synchronize();
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(staged + i * a.count, a.count, host + layout.local_row(first + i) * a.count);
  });
}

}  // namespace fd::cuda
