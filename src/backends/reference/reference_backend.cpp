#include "backends/reference/reference_backend.hpp"

#include <algorithm>
#include <vector>

#include "backends/host_panel.hpp"
#include "base/random.hpp"
#include "kernel/gaussian.hpp"

namespace fd {
namespace {

struct ReferencePoints final : Points {
  AlignedBuffer<double> x;
  SharedLayout where;
  std::size_t n = 0, dim = 0;
  Precision promise = Precision::fp64;
  const SharedLayout& layout() const override { return where; }
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
  std::string name() const override { return "reference"; }
  std::string description() const override { return "reference, naive fp64, 1 thread"; }
  std::string isa() const override { return "none"; }

  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole) override {
    auto points = std::make_unique<ReferencePoints>();
    points->n = centred.rows();
    points->where = whole ? std::make_shared<const Layout>(whole->rows, whole->first, points->n) : plain_layout(points->n);
    points->dim = centred.dimension();
    points->promise = precision;
    points->x = AlignedBuffer<double>(product_of(points->n, points->dim));
    centred.read(0, points->n, points->x.data());
    return points;
  }

  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    return std::make_unique<HostPanel<double>>(layout, columns, precision);
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

  void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z, Share share,
                  Watch* watch, std::optional<Precision>, double, Turn) override {
    const Window wx(w_x), wz(w_z), yx(y_x), yz(y_z);
    each_entry(beta, x, z, share, watch, [&](std::size_t i, std::size_t j, double e) {
      for (std::size_t c = 0; c < yx.count; ++c) {
        yx(i, c) += e * wz(j, c);
        yz(j, c) += e * wx(i, c);
      }
    });
  }

  void mass_pair(double beta, const Points& x, const Points& z, Columns y_x, Columns y_z, Share share, Watch* watch, double,
                 Turn) override {
    const Window yx(y_x), yz(y_z);
    each_entry(beta, x, z, share, watch, [&](std::size_t i, std::size_t j, double e) {
      yx(i, 0) += e, yx(i, 1) += e * e;
      yz(j, 0) += e, yz(j, 1) += e * e;
    });
  }

  void send_points(const Points& points, Places, Archive& to) override {
    const auto& p = static_cast<const ReferencePoints&>(points);
    std::size_t rows = p.where->rows(), first = p.where->first(), here = p.n, dimension = p.dim;
    Precision promise = p.promise;
    std::vector<double> x(p.x.data(), p.x.data() + p.n * p.dim);
    to(rows, first, here, dimension, promise, x);
  }
  std::unique_ptr<Points> visitor(Archive& from) override {
    auto p = std::make_unique<ReferencePoints>();
    std::size_t rows = 0, first = 0;
    std::vector<double> x;
    from(rows, first, p->n, p->dim, p->promise, x);
    p->where = std::make_shared<const Layout>(rows, first, p->n);
    p->x = AlignedBuffer<double>(x.size());
    std::copy(x.begin(), x.end(), p->x.data());
    return p;
  }
  void send_rows(Columns a, Places some, Archive& to) override { send_host_rows(Window(a), some.first, some.count, to); }
  void receive_rows(Archive& from, Columns y, Places some, bool accumulate) override {
    receive_host_rows(from, Window(y), some.first, some.count, accumulate);
  }

  void copy(Columns a_columns, Columns y_columns) override {
    const Window a(a_columns), y(y_columns);
    for (std::size_t i = 0; i < a.rows; ++i) std::copy_n(a.row(i), a.count, y.row(i));
  }
  void add(Columns a_columns, Columns y_columns) override {
    const Window a(a_columns), y(y_columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) y(i, c) += a(i, c);
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
      for (std::size_t i = 0; i < a.rows; ++i) a(i, c) = random.normal(columns.panel->layout()->row(i));
    }
  }

  void upload(const double* host, Columns columns) override {
    const Window a(columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) a(i, c) = host[i * a.count + c];
  }

  void download(Columns columns, double* host) override {
    const Window a(columns);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t c = 0; c < a.count; ++c) host[i * a.count + c] = a(i, c);
  }

 private:
  // f(i, j, K_ij) for the entries of a share; a tile is one entry.
  template <class F>
  static void each_entry(double beta, const Points& x_points, const Points& z_points, Share share, Watch* watch, F&& f) {
    const auto& x = static_cast<const ReferencePoints&>(x_points);
    const auto& z = static_cast<const ReferencePoints&>(z_points);
    for (std::size_t i = 0; i < x.n; ++i) {
      for (std::size_t j = 0; j < z.n; ++j)
        if (share == Share::all || (i + j) % 2 == (share == Share::even ? 0 : 1)) f(i, j, kernel(beta, x, i, z, j));
      if (watch != nullptr) watch->tick(static_cast<double>(i + 1) / static_cast<double>(x.n));
    }
  }

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
