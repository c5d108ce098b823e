#include "backends/cuda/cuda_backend.hpp"

#include <algorithm>
#include <utility>

#include "backends/cuda/pass.hpp"
#include "backends/cuda/shapes.hpp"
#include "backends/cuda/tall_blocks.hpp"

namespace fd {
namespace {

using cuda::CudaPoints;

class CudaBackend final : public Backend, public Lender {
 public:
  explicit CudaBackend(cuda::SharedDevice device) : device_(std::move(device)), passes_(device_), blocks_(device_) {}

  std::string name() const override { return "cuda"; }
  std::string description() const override { return "cuda " + device_->name() + " (" + isa() + ")"; }
  std::string isa() const override { return "sm_" + std::to_string(device_->capability()); }

  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole) override {
    return std::make_unique<CudaPoints>(device_, centred, precision, whole, blocks_.staging());
  }
  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    return std::make_unique<cuda::CudaPanel>(device_, layout, columns, precision);
  }

  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough, double) override {
    cuda::Product product = between(beta, x, x, watch, enough);
    product.w_z = w, product.y_x = y, product.symmetric = product.two_sided = true;
    passes_.run(product);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough) override {
    cuda::Product product = between(beta, x, z, watch, enough);
    product.w_z = w, product.y_x = y;
    passes_.run(product);
  }
  // The most that a product of any width is off by.
  double low_precision_error(double beta, const Points& x, Precision enough) const override {
    const cuda::Bounds& bounds = as_cuda(x).bounds();
    double error = 0;
    for (const std::size_t columns : {1, 8, 16})
      error = std::max(error,
                       cuda::arithmetic_for(promise_of(x.precision(), enough), beta, bounds, bounds, columns, true).norm_error);
    return error;
  }
  void mass(double beta, const Points& x, Columns y, Watch* watch, double) override {
    cuda::Product product = between(beta, x, x, watch);
    product.y_x = y, product.mass = product.symmetric = product.two_sided = true;
    passes_.run(product);
  }
  void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z, Share share,
                  Watch* watch, std::optional<Precision> enough, double, Turn) override {
    cuda::Product product = between(beta, x, z, watch, enough);
    product.w_x = w_x, product.w_z = w_z, product.y_x = y_x, product.y_z = y_z;
    product.two_sided = product.accumulate = true, product.share = share;
    passes_.run(product);
  }
  void mass_pair(double beta, const Points& x, const Points& z, Columns y_x, Columns y_z, Share share, Watch* watch, double,
                 Turn) override {
    cuda::Product product = between(beta, x, z, watch);
    product.y_x = y_x, product.y_z = y_z;
    product.mass = product.two_sided = product.accumulate = true, product.share = share;
    passes_.run(product);
  }
  void send_points(const Points& points, Places, Archive& to) override { as_cuda(points).write(to, blocks_.staging()); }
  std::unique_ptr<Points> visitor(Archive& from) override {
    return std::make_unique<CudaPoints>(device_, from, blocks_.staging());
  }

  void send_rows(Columns a, Places some, Archive& to) override { blocks_.send_rows(a, some, to); }
  void receive_rows(Archive& from, Columns y, Places some, bool accumulate) override {
    blocks_.receive_rows(from, y, some, accumulate);
  }

  Lender* lender() override { return this; }
  void lend_points(const Points& points, Archive& to) override { as_cuda(points).lend(to); }
  std::unique_ptr<Points> borrow_points(Archive& from) override { return std::make_unique<CudaPoints>(device_, from); }
  void skip_points(Archive& from) override { CudaPoints::skip_lent(from); }
  void lend(Columns a, Archive& to) override { blocks_.lend(a, to); }
  void borrow(Archive& from, Panel& to) override {
    cuda::Lent lent;
    from(lent);
    device_->use();
    static_cast<cuda::CudaPanel&>(to).borrow(lent);
  }
  bool keeps_visitors(const Points& like, std::size_t visitors) const override {
    return product_of(as_cuda(like).most_bytes(), visitors, 1) <= cuda::visitors_bytes(device_->memory());
  }

  void copy(Columns a, Columns y) override { blocks_.move(a, y, false); }
  void add(Columns a, Columns y) override { blocks_.move(a, y, true); }
  Eigen::MatrixXd gram(Columns a, Columns b) override { return blocks_.gram(a, b); }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) override { blocks_.combine(a, s, y, accumulate); }
  void scale_rows(Columns scale, Columns a, Columns y) override { blocks_.scale_rows(scale, a, y, false); }
  void multiply_add(Columns scale, Columns a, Columns y) override { blocks_.scale_rows(scale, a, y, true); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) override { blocks_.randomize(a, seed, stream); }
  void upload(const double* host, Columns a) override { blocks_.upload(host, a); }
  void download(Columns a, double* host) override { blocks_.download(a, host); }

 private:
  static const CudaPoints& as_cuda(const Points& points) { return static_cast<const CudaPoints&>(points); }
  // A solve applies one operator, so a product that is not permitted to be off has fp32's arithmetic, whatever its points were promised: few bits are rounded
  // anew for every width, and residuals would not fall below that. Panels of doubles have one arithmetic.
  static Precision promise_of(Precision own, std::optional<Precision> enough) {
    if (traits(own).wide_panels) return own;
    return enough && traits(*enough).row_error > traits(Precision::fp32).row_error ? *enough : Precision::fp32;
  }
  static cuda::Product between(double beta, const Points& x, const Points& z, Watch* watch,
                               std::optional<Precision> enough = {}) {
    cuda::Product product;
    product.beta = beta, product.x = &as_cuda(x), product.z = &as_cuda(z), product.watch = watch;
    product.promise = promise_of(x.precision(), enough);
    return product;
  }

  cuda::SharedDevice device_;
  cuda::PassRunner passes_;
  cuda::TallBlocks blocks_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int device) { return std::make_unique<CudaBackend>(cuda::Device::open(device)); }
std::vector<DeviceFacts> cuda_devices() { return cuda::Device::all(); }

}  // namespace fd
