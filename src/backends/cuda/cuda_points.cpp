#include "backends/cuda/cuda_points.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace fd::cuda {
namespace {

// Rows that fit into staging memory, one at least.
std::size_t staged_rows(std::size_t rows, std::size_t dimension) {
  return std::min(std::max<std::size_t>(1, rows), std::max<std::size_t>(1, staged_values / std::max<std::size_t>(1, dimension)));
}

// Equal rows have equal hashes; unequal ones are hardly ever taken for equal, and then only cost time.
std::uint64_t hash_of(const double* row, std::size_t dimension) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u;
  for (std::size_t c = 0; c < dimension; ++c) {
    hash ^= std::bit_cast<std::uint64_t>(row[c] + 0.0);  // -0 is 0
    hash *= 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 32;
  }
  return hash;
}

constexpr std::size_t padded_dimension(std::size_t dimension) {
  return (dimension + step_columns - 1) / step_columns * step_columns;
}

}  // namespace

void CudaPoints::allocate() {
  device_->use();
  coordinates_.at_least(*device_,
                        product_of(std::max<std::size_t>(1, rows()), std::max<std::size_t>(1, dimension()), sizeof(double)));
  std::vector<double> shifts(padded_dimension(std::max<std::size_t>(1, dimension())));
  for (std::size_t c = 0; c < dimension(); ++c) shifts[c] = shift(c);
  shifts_.at_least(*device_, shifts.size() * sizeof(double));
  // of memory that is not pinned: read when this returns
  device_->copy_to_device(shifts_.address(), shifts.data(), shifts.size() * sizeof(double));
}

CudaPoints::CudaPoints(SharedDevice device, PointSource& source, Precision precision, const std::optional<Whole>& whole,
                       HostBuffer& staging)
    : device_(std::move(device)), precision_(precision) {
  const std::size_t rows = source.rows(), dimension = source.dimension();
  layout_ = whole ? std::make_shared<const Layout>(whole->rows, whole->first, rows) : plain_layout(rows);
  bounds_.dimension = dimension;
  bounds_.rows = layout_->rows();
  allocate();
  const std::size_t some = staged_rows(rows, dimension);
  double* const host = staging.at_least(*device_, std::max<std::size_t>(1, some * dimension));
  std::vector<std::uint64_t> hashes(whole ? 0 : rows);
  for (std::size_t first = 0; first < rows; first += some) {
    const std::size_t count = std::min(some, rows - first);
    source.read(first, count, host);
    device_->copy_to_device(coordinates_.address() + first * dimension * sizeof(double), host,
                            count * dimension * sizeof(double));
    for (std::size_t i = 0; i < count; ++i) {
      double square = 0;
      for (std::size_t c = 0; c < dimension; ++c) {
        square += host[i * dimension + c] * host[i * dimension + c];
        bounds_.coordinate = std::max(bounds_.coordinate, std::abs(host[i * dimension + c]));
      }
      bounds_.square = std::max(bounds_.square, square);
      if (!whole) hashes[first + i] = hash_of(host + i * dimension, dimension);
    }
    device_->synchronize();  // before the memory is filled again
  }
  if (whole) {
    bounds_.square = whole->largest_square;
    bounds_.coordinate = whole->largest_coordinate;
    bounds_.copies = whole->copies;
    bounds_.table = whole->table;
  } else {
    std::sort(hashes.begin(), hashes.end());
    bounds_.copies = std::adjacent_find(hashes.begin(), hashes.end()) != hashes.end();
  }
}

void archive(Archive& archive, CudaPoints::Head& head) {
  Bounds& bounds = head.bounds;
  archive(head.rows, head.first, head.here, bounds.dimension, bounds.square, bounds.coordinate, bounds.copies, bounds.table,
          head.precision);
  if (head.first > head.rows || head.here > head.rows - head.first) throw Error(Failure::input, "points in it are cut short");
}

CudaPoints::Head CudaPoints::head() const { return {layout_->rows(), layout_->first(), layout_->here(), bounds_, precision_}; }

void CudaPoints::take(const Head& head) {
  layout_ = std::make_shared<const Layout>(head.rows, head.first, head.here);
  bounds_ = head.bounds;
  bounds_.rows = head.rows;
  precision_ = head.precision;
  allocate();
}

CudaPoints::CudaPoints(SharedDevice device, Archive& archive, HostBuffer& staging) : device_(std::move(device)) {
  Head head;
  archive(head);
  const std::size_t here = head.here, dimension = head.bounds.dimension;
  if (dimension > 0 && here > archive.left() / sizeof(double) / dimension)
    throw Error(Failure::input, "points in it are cut short");
  take(head);
  const std::size_t some = staged_rows(here, dimension);
  double* const host = staging.at_least(*device_, std::max<std::size_t>(1, some * dimension));
  for (std::size_t first = 0; first < here; first += some) {
    const std::size_t values = std::min(some, here - first) * dimension;
    archive.bytes(host, values * sizeof(double));
    device_->copy_to_device(coordinates_.address() + first * dimension * sizeof(double), host, values * sizeof(double));
    device_->synchronize();
  }
}

void CudaPoints::write(Archive& archive, HostBuffer& staging) const {
  Head head = this->head();
  archive(head);
  const std::size_t here = rows(), some = staged_rows(here, dimension());
  double* const host = staging.at_least(*device_, std::max<std::size_t>(1, some * dimension()));
  device_->use();
  for (std::size_t first = 0; first < here; first += some) {
    const std::size_t values = std::min(some, here - first) * dimension();
    device_->copy_to_host(host, coordinates() + first * dimension() * sizeof(double), values * sizeof(double));
    device_->synchronize();
    archive.bytes(host, values * sizeof(double));
  }
}

CudaPoints::CudaPoints(SharedDevice device, Archive& archive) : device_(std::move(device)) {
  Head head;
  Lent lent;
  archive(head, lent);
  take(head);
  arrival_.fetch(*device_, coordinates_.address(), product_of(rows(), dimension(), sizeof(double)), lent);
}

void CudaPoints::lend(Archive& archive) const {
  Head head = this->head();
  Lent lent{device_.get(), coordinates(), product_of(rows(), dimension(), sizeof(double)),
            nullptr};  // there since they were loaded
  archive(head, lent);
}

void CudaPoints::skip_lent(Archive& archive) {
  Head head;
  Lent lent;
  archive(head, lent);
}

std::size_t CudaPoints::most_bytes() const {
  const std::size_t width = padded_dimension(std::max<std::size_t>(1, dimension()));
  return padded_rows() *
         (2 * sizeof(double) * dimension() + 2 * width * sizeof(std::uint16_t) + sizeof(float) + 2 * sizeof(double));
}

CudaPoints::FarRows CudaPoints::rows_beyond(double norm) const {
  FarRows far;
  if (!(bounds_.square > norm * norm)) return far;
  const std::size_t some = staged_rows(rows(), dimension());
  std::vector<double> host(some * dimension());
  for (std::size_t first = 0; first < rows(); first += some) {
    const std::size_t count = std::min(some, rows() - first);
    device_->copy_to_host(host.data(), coordinates() + first * dimension() * sizeof(double),
                          count * dimension() * sizeof(double));
    device_->synchronize();
    for (std::size_t i = 0; i < count; ++i) {
      const double* const row = host.data() + i * dimension();
      double square = 0;
      for (std::size_t c = 0; c < dimension(); ++c) square += row[c] * row[c];
      if (!(square > norm * norm)) continue;
      far.rows.push_back(layout_->row(first + i));
      far.coordinates.insert(far.coordinates.end(), row, row + dimension());
    }
  }
  return far;
}

CudaPoints::Fused CudaPoints::fused(double beta, const Arithmetic& arithmetic) const {
  const std::size_t width = std::max(padded_dimension(dimension()), std::size_t{step_columns}), padded = padded_rows();
  const int steps = static_cast<int>(width / step_columns);
  if (beta_ != beta || parts_ != arithmetic.parts || step_ != arithmetic.step) {
    beta_ = std::numeric_limits<double>::quiet_NaN();
    packed_.at_least(*device_, product_of(padded, 2 * width, sizeof(std::uint16_t)));  // of two parts, so that it need not grow
    norms_.at_least(*device_, padded * sizeof(float));
    factors_.at_least(*device_, padded * sizeof(double));
    const PackPoints arguments = {coordinates(),
                                  static_cast<int>(rows()),
                                  static_cast<int>(padded),
                                  static_cast<int>(dimension()),
                                  steps,
                                  arithmetic.parts,
                                  Gaussian::point_scale(beta),
                                  1 / arithmetic.step,
                                  shifts_.address(),
                                  packed_.address(),
                                  norms_.address(),
                                  factors_.address()};
    device_->launch_for("pack_points", padded * 32, arguments);
    beta_ = beta, parts_ = arithmetic.parts, step_ = arithmetic.step;
  }
  return {packed_.address(), norms_.address(), factors_.address(), steps};
}

Pointer CudaPoints::floats(int exponent) const {
  if (exponent_ != exponent) {
    exponent_.reset();
    floats_.at_least(*device_, coordinates_.bytes());
    const PackFloats arguments = {coordinates(), static_cast<int>(rows()), static_cast<int>(dimension()),
                                  std::ldexp(1.0, exponent), floats_.address()};
    device_->launch_for("pack_floats", rows() * dimension(), arguments);
    exponent_ = exponent;
  }
  return floats_.address();
}

Pointer CudaPoints::half_squares() const {
  if (halves_.bytes() == 0) {
    const Pointer points = coordinates();
    Buffer halves(*device_, product_of(std::max<std::size_t>(1, rows()), sizeof(double)));
    const HalfSquares arguments = {points, static_cast<int>(rows()), static_cast<int>(dimension()), halves.address()};
    device_->launch_for("half_squares", rows() * 32, arguments);
    halves_ = std::move(halves);
  }
  return halves_.address();
}

}  // namespace fd::cuda
