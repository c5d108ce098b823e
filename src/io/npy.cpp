#include "io/npy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/element.hpp"
#include "io/npy_header.hpp"

namespace fd {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

class NpySource final : public PointSource {
 public:
  NpySource(std::unique_ptr<Bytes> bytes, const ReadOptions& options) : bytes_(std::move(bytes)), roundings_(options.roundings) {
    NpyHeader header = read_npy_header(*bytes_);
    const std::string& file = bytes_->name();
    type_ = element_type(header.descriptor, file);
    check_npy_size(header, bytes_->size(), file);
    if (options.vectors && header.shape.size() == 1) header.shape.push_back(1);
    if (header.shape.size() != 2) throw not_a_table(file, header.shape);
    rows_ = header.shape[0];
    dimension_ = header.shape[1];
    fortran_order_ = header.fortran_order;
    data_ = header.data_offset;
  }

  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return dimension_; }
  bool exact_in_float() const override { return type_.exact_in_float(); }

  void read(std::size_t first, std::size_t count, double* out) override {
    if (!fortran_order_) return read_run(first * dimension_, count * dimension_, out, 1);
    // column j is contiguous at j · rows
    for (std::size_t column = 0; column < dimension_; ++column) read_run(column * rows_ + first, count, out + column, dimension_);
  }

 private:
  // `count` consecutive numbers of the file, from number `start`, to every `stride`-th place of `out`.
  void read_run(std::size_t start, std::size_t count, double* out, std::size_t stride) {
    const std::size_t piece = piece_bytes / type_.size;
    while (count > 0) {
      const std::size_t now = std::min(count, piece);
      buffer_.resize(std::max(buffer_.size(), now * type_.size));
      bytes_->read(data_ + start * type_.size, now * type_.size, buffer_.data());
      (roundings_ ? decode_roundings : decode)(type_, buffer_.data(), now, out, stride);
      start += now;
      count -= now;
      out += now * stride;
    }
  }

  std::unique_ptr<Bytes> bytes_;
  bool roundings_;
  ElementType type_;
  std::size_t rows_ = 0, dimension_ = 0;
  bool fortran_order_ = false;
  std::uint64_t data_ = 0;
  std::vector<char> buffer_;
};

}  // namespace

void check_npy_size(const NpyHeader& header, std::uint64_t bytes, const std::string& file) {
  const std::size_t size = element_type(header.descriptor, file).size;
  std::uint64_t needed = size;
  for (const std::uint64_t extent : header.shape)
    if (__builtin_mul_overflow(needed, extent, &needed))
      throw Error(Failure::input,
                  fmt::format("{}: the header claims shape {}, more than any file can hold", file, shape_text(header.shape)),
                  "write the file again with np.save");
  const std::uint64_t there = bytes - header.data_offset;
  if (needed != there)
    throw Error(Failure::input,
                fmt::format("{}: the header claims {} of {}-byte numbers ({} bytes), the file holds {} bytes of them", file,
                            shape_text(header.shape), size, needed, there),
                needed > there ? "the file was cut short: copy or write it again"
                               : "write the file again with np.save, one array a file");
}

std::unique_ptr<PointSource> open_npy(std::unique_ptr<Bytes> bytes, const ReadOptions& options) {
  return std::make_unique<NpySource>(std::move(bytes), options);
}

}  // namespace fd
