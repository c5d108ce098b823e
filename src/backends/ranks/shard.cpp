#include "backends/ranks/shard.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "backends/ranks/half_ring.hpp"

namespace fd::ranks {
namespace {

std::unique_ptr<Backend> open_backend(const Comm& comm, const Call& call) {
  BackendRequest request;
  request.name = call.backend;
  request.isa = call.isa;
  request.threads = call.threads;
  if (call.keeps) request.keep_bytes = call.keep_bytes;
  request.one_bandwidth = call.one_bandwidth;
  if (!call.devices.empty()) request.devices = {call.devices[static_cast<std::size_t>(comm.rank()) % call.devices.size()]};
  return make_backend(request);
}

// Rows in memory.
class StagedRows final : public PointSource {
 public:
  StagedRows(std::vector<double> rows, std::size_t dimension) : rows_(std::move(rows)), dimension_(dimension) {}
  std::size_t rows() const override { return rows_.size() / dimension_; }
  std::size_t dimension() const override { return dimension_; }
  void read(std::size_t first, std::size_t count, double* out) override {
    std::copy_n(rows_.data() + first * dimension_, count * dimension_, out);
  }

 private:
  std::vector<double> rows_;
  std::size_t dimension_;
};

}  // namespace

Shard::Shard(Comm& comm, const Call& open) : comm_(comm), rows_a_rank_(open.rows_a_rank), backend_(open_backend(comm, open)) {}

void Shard::load(const Call& call, std::vector<double> rows, std::size_t dimension, const Whole& whole) {
  Loaded loaded{nullptr, call.rows, {}, {}};
  if (!rows.empty()) {
    StagedRows source(std::move(rows), dimension);
    loaded.points = backend_->load(source, call.precision, whole);
    const bool visits = shares(call.rows).sharing() > 1;
    const std::size_t parts = visits ? backend_->parts(shares(call.rows).most()) : 0;
    for (std::size_t i = 0; i < parts; ++i) {
      const Places places = backend_->places(*loaded.points, i, parts);
      const auto visit = [&](Archive& counter) { backend_->send_points(*loaded.points, places, counter); };
      loaded.parts.push_back({places, archived_size(visit)});
    }
  }
  points_[call.id] = std::move(loaded);
}

Columns Shard::columns(const Window& window) {
  Panel* const panel = panels_.at(window.panel).get();
  return panel == nullptr ? Columns() : Columns(*panel, window.first, window.count);
}

void Shard::upload(const Call& call, const double* rows) {
  if (const Columns a = columns(call.a); a.panel != nullptr) backend_->upload(rows, a);
}

std::vector<double> Shard::download(const Call& call) {
  const Columns a = columns(call.a);
  std::vector<double> rows(a.panel == nullptr ? 0 : a.rows() * a.count);
  if (a.panel != nullptr) backend_->download(a, rows.data());
  return rows;
}

std::vector<double> Shard::gram(const Call& call) {
  const Columns a = columns(call.a), b = columns(call.b);
  if (a.panel == nullptr) return std::vector<double>(call.a.count * call.b.count, 0.0);
  const Eigen::MatrixXd g = backend_->gram(a, b);
  return {g.data(), g.data() + g.size()};
}

void Shard::make_panel(const Call& call) {
  SharedLayout layout;
  if (call.other != 0) {
    if (const Points* points = points_.at(call.other).points.get(); points != nullptr) layout = points->layout();
  } else if (const auto me = static_cast<std::size_t>(comm_.rank()); shares(call.rows).count(me) > 0) {
    layout = std::make_shared<const Layout>(call.rows, shares(call.rows).first(me), shares(call.rows).count(me));
  }
  panels_[call.id] = layout ? backend_->panel(layout, call.columns, call.precision) : nullptr;
}

void Shard::pass(const Call& call, Watch* watch, bool failed) {
  HalfRing ring(comm_, *backend_, call.work, watch);
  Columns w, y;
  try {
    if (failed) throw Error(Failure::interrupted, "interrupted");
    if (call.a.panel != 0) w = columns(call.a);
    y = columns(call.y);
  } catch (...) {
    ring.fail(std::current_exception());
  }
  Loaded& x = points_.at(call.id);
  const Here here{{x.points.get(), &x.parts}, w, y, &x.guests};
  if (call.verb == Verb::product) ring.product(call.beta, shares(x.rows), here, call.permitted(), call.negligible);
  else if (call.verb == Verb::mass) ring.mass(call.beta, shares(x.rows), here, call.negligible);
  else {
    const Loaded& z = points_.at(call.other);
    ring.rectangle(call.beta, shares(x.rows), shares(z.rows), x.points.get(), {z.points.get(), &z.parts}, w, y, call.permitted());
  }
}

std::vector<double> Shard::run(const Call& call, Watch* watch, bool failed) {
  switch (call.verb) {
    case Verb::panel: make_panel(call); return {};
    case Verb::forget:
      points_.erase(call.id);
      panels_.erase(call.id);
      return {};
    case Verb::product:
    case Verb::mass:
    case Verb::rectangle: pass(call, watch, failed); return {};
    case Verb::low_precision_error: {
      const Points* const x = points_.at(call.id).points.get();
      return {x == nullptr ? 0 : backend_->low_precision_error(call.beta, *x, call.enough)};
    }
    case Verb::gram: return gram(call);
    default: break;
  }
  // what is left works on the rows of panels of one layout
  const Columns a = columns(call.a);
  if (a.panel == nullptr) return {};
  switch (call.verb) {
    case Verb::combine: {
      const auto rows = static_cast<Eigen::Index>(call.matrix_rows);
      const Eigen::Index count = rows == 0 ? 0 : static_cast<Eigen::Index>(call.matrix.size()) / rows;
      backend_->combine(a, Eigen::Map<const Eigen::MatrixXd>(call.matrix.data(), rows, count), columns(call.y), call.accumulate);
      return {};
    }
    case Verb::copy: backend_->copy(a, columns(call.y)); return {};
    case Verb::add: backend_->add(a, columns(call.y)); return {};
    case Verb::scale_rows: backend_->scale_rows(a, columns(call.b), columns(call.y)); return {};
    case Verb::multiply_add: backend_->multiply_add(a, columns(call.b), columns(call.y)); return {};
    case Verb::randomize: backend_->randomize(a, call.seed, call.stream); return {};
    default: throw Error(Failure::device, "a call that no rank knows");
  }
}

}  // namespace fd::ranks
