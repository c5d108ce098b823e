#include "backends/reference/reference_backend.hpp"

#include <vector>

#include "backends/host_panel.hpp"
#include "base/random.hpp"
#include "kernel/gaussian.hpp"

namespace fd {
namespace {

struct ReferencePoints final : Points {
  AlignedBuffer<double> x;
  std::size_t n = 0, dim = 0;
  Precision promise = Precision::fp64;
  std::size_t rows() const override { return n; }
  std::size_t dimension() const override { return dim; }
  Precision precision() const override { return promise; }
};

double kernel(double beta, const ReferencePoints& x, std::size_t i, const ReferencePoints& z, std::size_t j) {
  double squared = 0;
  for (std::size_t c = 0; c < x.dim; ++c) {
    const double difference = x.x[i * x.dim + c] - z.x[j * z.dim + c];
    squared += difference * difference;
  }
  return Gaussian::value(beta, squared);
}

using Window = HostColumns<double>;

class ReferenceBackend final : public Backend {
 public:
  std::string description() const override { return "reference, naive fp64, 1 thread"; }
  std::string isa() const override { return "none"; }

  std::unique_ptr<Points> load(PointSource& centred, Precision precision) override {
    auto points = std::make_unique<ReferencePoints>();
    points->n = centred.rows();
    points->dim = centred.dimension();
    points->promise = precision;
    points->x = AlignedBuffer<double>(product_of(points->n, points->dim));
    centred.read(0, points->n, points->x.data());
    return points;
  }

  std::unique_ptr<Panel> panel(std::size_t rows, std::size_t columns, Precision) override {
    return std::make_unique<HostPanel<double>>(rows, columns);
  }

  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision>, double) override {
    product(beta, x, x, true, w, y, watch);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision>) override {
    product(beta, x, z, false, w, y, watch);
  }

  void mass(double beta, const Points& points, Columns y_columns, Watch* watch, double) override {
    const auto& x = static_cast<const ReferencePoints&>(points);
    const Window y(y_columns);
    for (std::size_t i = 0; i < x.n; ++i) {
      double sum = 0, sum_of_squares = 0;
      for (std::size_t j = 0; j < x.n; ++j) {
        if (i == j) continue;
        const double e = kernel(beta, x, i, x, j);
        sum += e;
        sum_of_squares += e * e;
      }
      y(i, 0) = sum;
      y(i, 1) = sum_of_squares;
      if (watch != nullptr) watch->tick(static_cast<double>(i + 1) / static_cast<double>(x.n));
    }
  }

  Eigen::MatrixXd gram(Columns a_columns, Columns b_columns) override {
    const Window a(a_columns), b(b_columns);
    Eigen::MatrixXd g = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(a.count), static_cast<Eigen::Index>(b.count));
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c)
        for (std::size_t e = 0; e < b.count; ++e)
          g(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(e)) += a(i, c) * b(i, e);
    return g;
  }

  void combine(Columns a_columns, const Eigen::MatrixXd& s, Columns y_columns, bool accumulate) override {
    const Window a(a_columns), y(y_columns);
    Eigen::VectorXd row(s.cols());
    for (std::size_t i = 0; i < a.rows; ++i) {
      row.setZero();
      for (std::size_t c = 0; c < a.count; ++c) row += a(i, c) * s.row(static_cast<Eigen::Index>(c)).transpose();
      for (std::size_t e = 0; e < y.count; ++e) y(i, e) = row(static_cast<Eigen::Index>(e)) + (accumulate ? y(i, e) : 0.0);
    }
  }

  void scale_rows(Columns scale, Columns a_columns, Columns y_columns) override {
    const Window s(scale), a(a_columns), y(y_columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) y(i, c) = s(i, 0) * a(i, c);
  }

  void multiply_add(Columns scale, Columns a_columns, Columns y_columns) override {
    const Window s(scale), a(a_columns), y(y_columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) y(i, c) += s(i, 0) * a(i, c);
  }

  void randomize(Columns columns, std::uint64_t seed, std::uint64_t stream) override {
    const Window a(columns);
    for (std::size_t c = 0; c < a.count; ++c) {
      const Random random(seed, stream + c);
      for (std::size_t i = 0; i < a.rows; ++i) a(i, c) = random.normal(i);
    }
  }

  void upload(const Points*, const double* host, Columns columns) override {
    const Window a(columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) a(i, c) = host[i * a.count + c];
  }

  void download(const Points*, Columns columns, double* host) override {
    const Window a(columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) host[i * a.count + c] = a(i, c);
  }

 private:
  static void product(double beta, const Points& x_points, const Points& z_points, bool skip_diagonal, Columns w_columns,
                      Columns y_columns, Watch* watch) {
    const auto& x = static_cast<const ReferencePoints&>(x_points);
    const auto& z = static_cast<const ReferencePoints&>(z_points);
    const Window w(w_columns), y(y_columns);
    for (std::size_t i = 0; i < x.n; ++i) {
      for (std::size_t c = 0; c < y.count; ++c) y(i, c) = 0;
      for (std::size_t j = 0; j < z.n; ++j) {
        if (skip_diagonal && i == j) continue;
        const double e = kernel(beta, x, i, z, j);
        for (std::size_t c = 0; c < y.count; ++c) y(i, c) += e * w(j, c);
      }
      if (watch != nullptr) watch->tick(static_cast<double>(i + 1) / static_cast<double>(x.n));
    }
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace fd
