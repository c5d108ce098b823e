// Small products and tall-block verbs, chosen so that together they run every line of every kernel: what coverage is counted by (coverage.py) and what
// broken kernels must fail (mutants.py).
//
//   fd_gpu_cases                 all cases, a line for each that fails; status 1 if one does
//   fd_gpu_cases --list          their names
//   fd_gpu_cases NAME...         some of them
//   fd_gpu_cases --bits          a number that stands for every bit of a product of several blocks
//   fd_gpu_cases --serve         a line on standard input is `VARIABLE=value VARIABLE=value ... NAME NAME ...`: a child process with this environment runs
//                                these cases on a machine that has forgotten everything else, and one line says `ok`, `wrong`, `refused` (by an error) or
//                                `crashed`
//
// The tolerance is the promise of the precision, as in the contract tests.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "backends/cuda/accuracy.hpp"
#include "backends/ranks/serve.hpp"
#include "backends/ranks/thread_ranks.hpp"
#include "base/archive.hpp"
#include "device/backend.hpp"
#include "support/datasets.hpp"
#include "support/worst_cases.hpp"

namespace fd::test {
namespace {

enum class Kind { symmetric, mass, rectangle, pair, mass_pair };

struct Product {
  std::string name;
  Precision precision;
  Kind kind;
  std::size_t rows, dimension, columns;
  double norm;          // of the largest row, scaled: decides the arithmetic
  bool copies = false;  // some rows are equal
  bool cube =
      false;  // coordinates are +-1, of two rows in three 0.8 of that: no power of two of rows further on it is the same again
  bool steep = false;      // the first and the last coordinate are ten times the others
  std::size_t others = 0;  // rows of z, where they are not as many
  std::size_t rows_of_z() const { return others != 0 ? others : rows; }
};

Dataset table(const Product& p, std::uint64_t seed, std::size_t rows) {
  Dataset data = gaussian(rows, p.dimension, seed);
  if (p.copies)
    for (std::size_t c = 0; c < p.dimension; ++c) data.x[(rows - 1) * p.dimension + c] = data.x[c];
  if (p.cube)
    for (std::size_t i = 0; i < rows * p.dimension; ++i) data.x[i] = (data.x[i] < 0 ? -1 : 1) * (i / p.dimension % 3 ? 0.8 : 1);
  if (p.steep)
    for (std::size_t i = 0; i < rows; ++i) data.x[i * p.dimension] *= 10, data.x[(i + 1) * p.dimension - 1] *= 10;
  return data;
}

std::vector<double> weights(std::size_t count, std::uint64_t stream, bool positive) {
  std::vector<double> w(count);
  for (std::size_t i = 0; i < count; ++i) {
    w[i] = static_cast<float>(Random(5, stream).normal(i));
    if (positive) w[i] = std::abs(w[i]);
  }
  return w;
}

// Sums over x and, in a pair, over z; `size`: with all weights positive.
std::vector<double> results(Backend& backend, const Product& p, bool size) {
  const Dataset x = table(p, 3, p.rows), z = table(p, 4, p.rows_of_z());
  const double beta = beta_for_norm(x, p.norm);
  ViewSource x_source(PointsView(x.x.data(), x.rows, x.dimension)), z_source(PointsView(z.x.data(), z.rows, z.dimension));
  const bool two = p.kind == Kind::rectangle || p.kind == Kind::pair || p.kind == Kind::mass_pair;
  const auto a = backend.load(x_source, p.precision), b = two ? backend.load(z_source, p.precision) : nullptr;
  const Points& others = two ? *b : *a;
  auto w_a = backend.panel(a->layout(), p.columns, p.precision), w_b = backend.panel(others.layout(), p.columns, p.precision);
  auto y_a = backend.panel(a->layout(), p.columns, p.precision), y_b = backend.panel(others.layout(), p.columns, p.precision);
  backend.upload(weights(p.rows * p.columns, 1, size).data(), *w_a);
  backend.upload(weights(others.rows() * p.columns, 2, size).data(), *w_b);
  const std::vector<Share> shares = backend.name() == "cuda" ? std::vector{Share::even, Share::odd} : std::vector{Share::all};
  switch (p.kind) {
    case Kind::symmetric: backend.xgemm(beta, *a, *w_a, *y_a, nullptr, p.precision); break;
    case Kind::mass: backend.mass(beta, *a, *y_a, nullptr); break;
    case Kind::rectangle: backend.xgemm(beta, *a, others, *w_b, *y_a, nullptr, p.precision); break;
    case Kind::pair:
      for (const Share share : shares) backend.xgemm_pair(beta, *a, others, *w_a, *w_b, *y_a, *y_b, share, nullptr, p.precision);
      break;
    case Kind::mass_pair:
      for (const Share share : shares) backend.mass_pair(beta, *a, others, *y_a, *y_b, share, nullptr);
  }
  std::vector<double> host((p.rows + others.rows()) * p.columns, 0.0);
  backend.download(*y_a, host.data());
  if (p.kind == Kind::pair || p.kind == Kind::mass_pair) backend.download(*y_b, host.data() + p.rows * p.columns);
  return host;
}

bool right(Backend& tested, Backend& oracle, const Product& p) {
  const auto got = results(tested, p, false), want = results(oracle, p, false);
  auto size = results(oracle, p, true);
  const auto own = weights(p.rows * p.columns, 1, true);
  if (p.kind == Kind::symmetric)  // the diagonal belongs to a row of K |W|
    for (std::size_t i = 0; i < own.size(); ++i) size[i] += own[i];
  if (p.kind == Kind::mass)
    for (double& value : size) value += 1;
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const double error = std::abs(got[i] - want[i]) / (size[i] + 1e-30); !(error <= worst)) worst = error;
  if (worst <= traits(p.precision).row_error) return true;
  std::fprintf(stderr, "%s: rows are off by %.2e, and %.0e is promised\n", p.name.c_str(), worst, traits(p.precision).row_error);
  return false;
}

// The verbs of tall blocks, all of them. Sums of `a` columns in the panel's arithmetic.
bool blocks_are_right(Backend& tested, Backend& oracle, Precision precision) {
  const std::size_t rows = 2100, a = 35, b = 37;
  const double unit = traits(precision).wide_panels ? 1e-14 : 1e-5;
  bool all = true;
  std::vector<std::vector<double>> found;
  for (Backend* backend : {&tested, &oracle}) {
    const auto layout = plain_layout(rows);
    auto x = backend->panel(layout, a + 1, precision), y = backend->panel(layout, b, precision),
         s = backend->panel(layout, 1, precision);
    backend->randomize(*x, 5, 0);
    backend->randomize(*y, 5, 100);
    backend->upload(weights(rows, 3, false).data(), *s);
    const Columns part(*x, 1, a);
    const Eigen::MatrixXd gram = backend->gram(part, *y);
    Eigen::MatrixXd c(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
    for (Eigen::Index i = 0; i < c.size(); ++i) c.data()[i] = Random(8, 0).normal(static_cast<std::uint64_t>(i));
    const auto take = [&](Columns columns) {
      std::vector<double> host(rows * columns.count);
      backend->download(columns, host.data());
      return host;
    };
    found.push_back({gram.data(), gram.data() + gram.size()});
    backend->combine(part, c, *y, true);
    found.push_back(take(*y));
    backend->combine(part, c, *y, false);
    found.push_back(take(*y));
    backend->scale_rows(*s, *y, *y);
    found.push_back(take(*y));
    backend->multiply_add(*s, *y, *y);
    found.push_back(take(*y));
    backend->combine(part, c.leftCols(3), Columns(*x, 1, 3), false);  // in place
    found.push_back(take(*x));
    backend->combine(part, c.leftCols(3), Columns(*x, 4, 3), true);
    found.push_back(take(*x));
    // what nobody has written is 0, whichever verb comes first
    const auto first = backend->panel(layout, 2, precision), second = backend->panel(layout, 2, precision),
               third = backend->panel(layout, 2, precision);
    backend->upload(weights(rows, 3, false).data(), Columns(*first, 1, 1));
    found.push_back(take(*first));
    backend->randomize(Columns(*second, 0, 1), 5, 200);
    found.push_back(take(*second));
    backend->combine(part, c.leftCols(1), Columns(*third, 1, 1), false);
    found.push_back(take(*third));
    backend->combine(*backend->panel(layout, 1, precision), c.topLeftCorner(1, 1), Columns(*third, 1, 1), true);
    found.push_back(take(*third));
  }
  const std::size_t each = found.size() / 2;
  for (std::size_t v = 0; v < each; ++v) {
    double worst = 0, size = 0;
    for (std::size_t i = 0; i < found[v].size(); ++i) {
      if (const double error = std::abs(found[v][i] - found[each + v][i]); !(error <= worst)) worst = error;
      size = std::max(size, std::abs(found[each + v][i]));
    }
    if (worst <= unit * size) continue;
    std::fprintf(stderr, "tall blocks, verb %zu: off by %.2e of %.2e\n", v, worst, size);
    all = false;
  }
  return all;
}

// Two rows of which all coordinates are rounded towards each other as far as can be, and a weight at one of them alone: nothing else is left of the other's
// row. Products keep their promise, the normalised kernel what is said of it; and the bound is no larger than it must be.
bool roundings_that_add_up(Backend& backend) {
  constexpr double beta = 0.5;
  const double scale = Gaussian::point_scale(beta);
  bool all = true, sharp = false;
  for (const Precision precision : {Precision::tf32, Precision::bf16})
    for (const std::size_t dimension : {1, 16, 100})
      for (const double size : {0.06, 0.12, 0.2, 0.24, 0.4, 0.48, 0.7, 0.95})  // of a coordinate, scaled
        for (const std::size_t columns : {1, 8}) {
          cuda::Bounds bounds;
          bounds.dimension = dimension, bounds.rows = 2, bounds.coordinate = size / scale;
          bounds.square = static_cast<double>(dimension) * bounds.coordinate * bounds.coordinate;
          const double step = cuda::one_part(beta, bounds, bounds).step, whole = std::floor(size / step - 2) * step;
          std::vector<double> x(2 * dimension), w(2 * columns, 0.0);
          double square = 0;
          for (std::size_t c = 0; c < dimension; ++c) {
            const double moved = whole + 0.499 * step;  // nearest to `whole`
            x[c] = (moved - cuda::shift(c)) / scale, x[dimension + c] = (-moved - cuda::shift(c)) / scale;
            square += 4 * moved * moved;
          }
          const double entry = std::exp2(-square / 2);
          if (entry < (columns > 4 ? 0x1p-28 : 0x1p-100))
            continue;  // the range of 16-bit floats, and of floats: docs/gpu.md, known limits
          for (std::size_t c = 0; c < columns; ++c) w[columns + c] = 1;
          ViewSource source(PointsView(x.data(), 2, dimension));
          const auto points = backend.load(source, precision);
          auto in = backend.panel(points->layout(), columns, precision),
               out = backend.panel(points->layout(), columns, precision);
          backend.upload(w.data(), *in);
          backend.xgemm(beta, *points, *in, *out, nullptr, precision);
          backend.download(*out, w.data());
          const double error = std::abs(w[0] - entry) / entry;
          const double said = backend.low_precision_error(beta, *points, precision);
          const double in_the_norm = std::abs(w[0] - entry) / (1 + entry), fp32 = traits(Precision::fp32).row_error;
          sharp = sharp || error > 0.7 * traits(precision).row_error;
          if (error <= traits(precision).row_error && in_the_norm <= said + fp32) continue;
          std::fprintf(stderr, "%zu columns of %g: off by %.2e, %.0e is promised; in the norm by %.2e, said %.2e\n", dimension,
                       size, error, traits(precision).row_error, in_the_norm, said);
          all = false;
        }
  return all && sharp;
}

std::size_t devices() {
  const char* const count = std::getenv("FD_SOFTGPU_DEVICES");
  return count == nullptr ? 1 : static_cast<std::size_t>(std::atoi(count));
}

// A rank that does not say that the others are of its process: what goes to them goes as bytes.
class Apart final : public Comm {
 public:
  explicit Apart(Comm& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void send(int to, Message message) override { inner_.send(to, std::move(message)); }
  Message receive(int from) override { return inner_.receive(from); }
  void ask_stop(std::uint64_t work) override { inner_.ask_stop(work); }
  bool stop_asked(std::uint64_t work) override { return inner_.stop_asked(work); }

 private:
  Comm& inner_;
};

// Several products, so that what is kept of visitors is used again: of all widths, of part of a panel, of two tables.
std::vector<double> products_of_several(Backend& backend, std::size_t rows, Precision precision) {
  constexpr double beta = 0.7;
  const Dataset x = gaussian(rows, 3, 3), z = gaussian(rows / 2, 3, 4);
  ViewSource x_source(PointsView(x.x.data(), x.rows, 3)), z_source(PointsView(z.x.data(), z.rows, 3));
  const auto a = backend.load(x_source, precision), b = backend.load(z_source, precision);
  auto w = backend.panel(a->layout(), 8, precision), v = backend.panel(b->layout(), 2, precision);
  auto y = backend.panel(a->layout(), 8, precision);
  backend.upload(weights(rows * 8, 1, false).data(), *w);
  backend.upload(weights(z.rows * 2, 2, false).data(), *v);
  std::vector<double> all;
  const auto take = [&](Columns columns) {
    std::vector<double> host(columns.rows() * columns.count);
    backend.download(columns, host.data());
    all.insert(all.end(), host.begin(), host.end());
  };
  backend.xgemm(beta, *a, *w, *y, nullptr);
  take(*y);
  backend.xgemm(beta, *a, *y, *w, nullptr);
  backend.scale_rows(Columns(*y, 0, 1), *w, *w);
  take(*w);
  backend.xgemm(2 * beta, *a, Columns(*w, 3, 2), Columns(*y, 1, 2), nullptr);
  take(*y);
  backend.mass(beta, *a, Columns(*y, 0, 2), nullptr);
  take(*y);
  backend.xgemm(beta, *a, *b, *v, Columns(*y, 2, 2), nullptr);
  take(*y);
  return all;
}

// Two devices driven by one thread, so that every wait counts: nobody else has waited meanwhile.
struct TwoDevices {
  static constexpr std::size_t rows = 150;
  static constexpr double beta = 0.7;
  TwoDevices() {
    BackendRequest first{"cuda", "", 1}, second{"cuda", "", 1};
    first.devices = {0}, second.devices = {1};
    here = make_backend(first), there = make_backend(second);
    const Dataset x = gaussian(rows, 3, 3);
    ViewSource source(PointsView(x.x.data(), rows, 3));
    points = here->load(source, Precision::fp32);
  }
  static std::unique_ptr<Panel> filled(Backend& backend, const Points& points, std::size_t columns, std::uint64_t stream) {
    auto panel = backend.panel(points.layout(), columns, Precision::fp32);
    backend.upload(weights(rows * columns, stream, false).data(), *panel);
    return panel;
  }
  static std::vector<double> values(Backend& backend, Columns columns) {
    std::vector<double> host(rows * columns.count);
    backend.download(columns, host.data());
    return host;
  }
  static std::vector<double> masses(Backend& backend, const Points& points) {
    const auto y = backend.panel(points.layout(), 2, Precision::fp32);
    backend.mass(beta, points, *y, nullptr);
    return values(backend, *y);
  }
  template <class Write, class Read>
  static auto through(Write&& write, Read&& read) {
    const auto message = archived(write);
    ArchiveReader reader(message.data(), message.size());
    return read(reader);
  }
  std::unique_ptr<Backend> here, there;
  std::unique_ptr<Points> points;
};

// Points go as soon as they are loaded; what is borrowed is used at once, borrowed anew where a pass has just read it, or `dropped` while it is on its way.
bool lent_by_hand(bool dropped) {
  if (devices() < 2) return true;
  TwoDevices two;
  Backend &here = *two.here, &there = *two.there;
  const Points& points = *two.points;
  const auto copy = TwoDevices::through([&](Archive& to) { here.lender()->lend_points(points, to); },
                                        [&](Archive& from) { return there.lender()->borrow_points(from); });
  bool all = TwoDevices::masses(here, points) == TwoDevices::masses(there, *copy);
  const auto w = TwoDevices::filled(here, points, 4, 1), s = TwoDevices::filled(here, points, 1, 2);
  const auto s_there = TwoDevices::filled(there, *copy, 1, 2);
  const auto borrow = [&](Columns part, Panel& to) {
    TwoDevices::through([&](Archive& archive) { here.lender()->lend(part, archive); },
                        [&](Archive& archive) { return there.lender()->borrow(archive, to), 0; });
  };
  for (const std::size_t count : {4, 2}) {
    const Columns part(*w, 4 - count, count);
    const auto y_here = here.panel(points.layout(), count, Precision::fp32),
               y_there = there.panel(copy->layout(), count, Precision::fp32);
    const auto z_here = here.panel(points.layout(), count, Precision::fp32),
               z_there = there.panel(copy->layout(), count, Precision::fp32);
    const auto panel = there.panel(copy->layout(), count, Precision::fp32),
               unused = there.panel(copy->layout(), count, Precision::fp32);
    here.scale_rows(*s, *w, *w);
    borrow(part, *panel);
    there.multiply_add(*s_there, *panel, *y_there);
    here.multiply_add(*s, part, *y_here);
    all = all && TwoDevices::values(there, *y_there) == TwoDevices::values(here, *y_here);
    there.xgemm(TwoDevices::beta, *copy, *panel, *z_there, nullptr);
    here.xgemm(TwoDevices::beta, points, part, *z_here, nullptr);
    here.scale_rows(*s, *w, *w);
    borrow(part, *panel);
    there.multiply_add(*s_there, *panel, *z_there);
    here.multiply_add(*s, part, *z_here);
    all = all && TwoDevices::values(there, *z_there) == TwoDevices::values(here, *z_here);
    if (!dropped) continue;
    borrow(part, *unused);
    there.scale_rows(*s_there, *y_there, *y_there);  // dropped too, on the other stream
  }
  return all;
}

// Points that go as bytes, back and forth, so that memory for them is filled anew at once.
bool sent_by_hand() {
  if (devices() < 2) return true;
  TwoDevices two;
  const auto send = [](Backend& from, const Points& points, Backend& to) {
    return TwoDevices::through(
        [&](Archive& archive) {
          from.send_points(points, {0, points.rows()}, archive);
        },
        [&](Archive& archive) { return to.visitor(archive); });
  };
  const auto visitor = send(*two.here, *two.points, *two.there), back = send(*two.there, *visitor, *two.here);
  const auto again = send(*two.there, *visitor, *two.here);
  const std::vector<double> masses = TwoDevices::masses(*two.here, *two.points);
  return masses == TwoDevices::masses(*two.there, *visitor) && masses == TwoDevices::masses(*two.here, *back) &&
         masses == TwoDevices::masses(*two.here, *again);
}

// A pass of many launches, of which no more are under way than were at its first look.
class LaunchWatch final : public Watch {
 public:
  LaunchWatch() {
    const char* const library = std::getenv("FLASHDIFFUSION_CUDA_DRIVER");
    void* const handle = dlopen(library != nullptr ? library : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) count_ = reinterpret_cast<Count>(dlsym(handle, "fd_softgpu_pending"));
  }
  void tick(double) override {
    if (count_ != nullptr) pending.push_back(count_());
  }
  std::vector<unsigned long long> pending;

 private:
  using Count = unsigned long long (*)();
  Count count_ = nullptr;
};

bool launches_under_way(Backend& tested) {
  const Dataset x = gaussian(1100, 3, 3);
  ViewSource source(PointsView(x.x.data(), x.rows, 3));
  const auto points = tested.load(source, Precision::fp32);
  const auto w = tested.panel(points->layout(), 8, Precision::fp32), y = tested.panel(points->layout(), 8, Precision::fp32);
  tested.upload(weights(x.rows * 8, 1, false).data(), *w);
  LaunchWatch watch;
  tested.xgemm(0.7, *points, *w, *y, &watch);
  if (watch.pending.size() < 4) return true;  // memory for all in three launches, or a GPU that nobody can look into
  return *std::max_element(watch.pending.begin(), watch.pending.end()) == watch.pending.front() && watch.pending.back() == 0;
}

// Devices that lend to each other give the bits of devices whose messages go through the host, and those of a machine with little memory.
bool lending_changes_nothing(Precision precision) {
  if (devices() < 2) return true;
  BackendRequest request{"cuda", "", 1};
  for (std::size_t device = 0; device < devices(); ++device) request.devices.push_back(static_cast<int>(device));
  request.ranks = static_cast<int>(devices()), request.rows_a_rank = 1;
  const std::vector<double> lent = products_of_several(*make_backend(request), 150, precision);
  ranks::ThreadRanks threads(request.ranks, [](Comm& comm) {
    Apart apart(comm);
    ranks::serve(apart);
  });
  Apart apart(threads.rank0());
  request.comm = &apart;
  std::vector<double> sent;
  try {
    sent = products_of_several(*make_backend(request), 150, precision);
  } catch (...) {
    ranks::dismiss(apart);
    throw;
  }
  ranks::dismiss(apart);
  return lent == sent;
}

struct Case {
  std::string name;
  std::function<bool(Backend&, Backend&)> right;
};

std::vector<Case> cases() {
  std::vector<Product> products;
  const auto some = [&](const std::string& name, Precision precision, std::size_t columns,
                        std::initializer_list<std::size_t> dimensions, double norm) {
    for (const std::size_t d : dimensions)
      products.push_back({name + "_d" + std::to_string(d), precision, Kind::symmetric, 150, d, columns, norm});
    const std::size_t d = *dimensions.begin();
    products.push_back({name + "_copies", precision, Kind::symmetric, 130, d, columns, norm, true});
    products.push_back({name + "_pair", precision, Kind::pair, 150, d, columns, norm});
    if (columns <= 4) products.push_back({name + "_rectangle", precision, Kind::rectangle, 140, d, columns, norm});
    // rows enough for blocks of 256, of two panels
    if (name.starts_with("direct") || name.starts_with("products")) return;
    products.push_back({name + "_panels", precision, columns <= 4 ? Kind::rectangle : Kind::pair, 129, 3,
                        columns > 4 ? columns / 2 + 1 : columns, norm, false, false, false, 8192});
  };
  const auto mass = [&](const std::string& name, Precision precision, std::initializer_list<std::size_t> dimensions,
                        double norm) {
    for (const std::size_t d : dimensions)
      products.push_back({name + "_d" + std::to_string(d), precision, Kind::mass, 150, d, 2, norm});
    products.push_back({name + "_pair", precision, Kind::mass_pair, 150, *dimensions.begin(), 2, norm});
    products.push_back({name + "_copies", precision, Kind::mass, 130, *dimensions.begin(), 2, norm, true});
    if (!name.starts_with("direct") && !name.starts_with("products"))
      products.push_back({name + "_panels", precision, Kind::mass_pair, 129, 3, 2, norm, false, false, false, 8192});
  };
  // coordinates in two parts are chunks of 32, of one part of 64; two chunks stay, more come in turn
  for (const std::size_t columns : {1, 2, 4, 8, 16}) {
    some("two_parts_" + std::to_string(columns), Precision::fp32, columns, {20, 5, 40, 70}, 3);
    some("one_part_" + std::to_string(columns), Precision::tf32, columns, {33, 5, 100, 150}, 0.4);
  }
  for (const std::size_t columns : {8, 16}) {
    some("two_parts_rough_" + std::to_string(columns), Precision::tf32, columns, {20, 5, 40, 70}, 3);
    some("one_part_rough_" + std::to_string(columns), Precision::bf16, columns, {33, 5, 100, 150}, 1.5);
  }
  // norms of which whole parts differ from row to row; low parts that matter
  for (const std::size_t columns : {1, 2, 4, 8, 16})
    products.push_back({"one_part_" + std::to_string(columns) + "_norms", Precision::tf32, Kind::symmetric, 150, 20, columns,
                        1.07, false, true});
  for (const std::size_t columns : {8, 16})
    products.push_back({"two_parts_rough_" + std::to_string(columns) + "_steep", Precision::tf32, Kind::symmetric, 150, 18,
                        columns, 7.5, false, false, true});
  mass("two_parts_mass", Precision::fp32, {20, 5, 40, 70}, 3);
  some("direct_f32", Precision::fp32, 7, {18, 3}, 9);
  some("direct_f64", Precision::fp64, 7, {18, 3}, 9);
  some("products_f64", Precision::fp64, 7, {18, 3}, 3);
  some("direct_f32_8", Precision::fp32, 8, {3}, 9);
  some("direct_f64_8", Precision::fp64, 8, {3}, 9);
  some("products_f64_8", Precision::fp64, 8, {3}, 3);
  some("direct_f32_1", Precision::fp32, 1, {3}, 9);
  some("direct_f64_1", Precision::fp64, 1, {3}, 9);
  some("products_f64_1", Precision::fp64, 1, {3}, 3);
  products.push_back({"products_f64_edge", Precision::fp64, Kind::symmetric, 150, 18, 7, 4.9, true});  // as large as norms may be
  mass("direct_f32_mass", Precision::fp32, {18}, 9);
  mass("direct_f64_mass", Precision::fp64, {18}, 9);
  mass("products_f64_mass", Precision::fp64, {18}, 3);
  products.push_back({"many_rows", Precision::fp32, Kind::symmetric, 1100, 3, 8, 2});
  products.push_back({"many_rows_pair", Precision::fp32, Kind::pair, 520, 3, 1, 2});
  products.push_back({"many_rows_f64", Precision::fp64, Kind::symmetric, 600, 3, 1, 2});
  products.push_back({"many_rows_direct_f64", Precision::fp64, Kind::symmetric, 300, 3, 1, 9});
  products.push_back({"many_rows_pair_f64", Precision::fp64, Kind::pair, 520, 3, 1, 2});

  std::vector<Case> all;
  for (const Product& p : products)
    all.push_back({p.name, [p](Backend& tested, Backend& oracle) { return right(tested, oracle, p); }});
  for (const Precision precision : {Precision::fp32, Precision::fp64})
    all.push_back({"blocks_" + std::string(traits(precision).name),
                   [precision](Backend& tested, Backend& oracle) { return blocks_are_right(tested, oracle, precision); }});
  all.push_back({"two_ranks", [](Backend&, Backend& oracle) {  // of two devices, or of the only one
                   BackendRequest request{"cuda", "", 1};
                   request.ranks = 2, request.rows_a_rank = 1, request.devices = {0, devices() < 2 ? 0 : 1};
                   return right(*make_backend(request), oracle, {"two_ranks", Precision::fp32, Kind::symmetric, 150, 3, 8, 3});
                 }});
  for (const Precision precision : {Precision::fp32, Precision::fp64})
    all.push_back({"lent_" + std::string(traits(precision).name),
                   [precision](Backend&, Backend&) { return lending_changes_nothing(precision); }});
  all.push_back({"lent_by_hand", [](Backend&, Backend&) { return lent_by_hand(false); }});
  all.push_back({"dropped_by_hand", [](Backend&, Backend&) { return lent_by_hand(true); }});
  all.push_back({"sent_by_hand", [](Backend&, Backend&) { return sent_by_hand(); }});
  all.push_back({"launches_under_way", [](Backend& tested, Backend&) { return launches_under_way(tested); }});
  all.push_back({"roundings", [](Backend& tested, Backend&) { return roundings_that_add_up(tested); }});
  return all;
}

// ok, wrong or refused
const char* run(const std::vector<std::string>& names) {
  const auto oracle = make_backend({"reference", "", 1});
  std::vector<Case> wanted;
  for (const Case& one : cases())
    if (names.empty() || std::find(names.begin(), names.end(), one.name) != names.end()) wanted.push_back(one);
  if (wanted.size() < names.size()) throw Error(Failure::misuse, "no such case", "--list names them");
  try {
    bool all = true;
    const auto tested = make_backend({"cuda", "", 1});
    for (const Case& one : wanted) all = one.right(*tested, *oracle) && all;
    return all ? "ok" : "wrong";
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return "refused";
  }
}

// Modules that the parent has read are read already in its children.
int serve() {
  const char* const library = std::getenv("FLASHDIFFUSION_CUDA_DRIVER");
  make_backend({"cuda", "", 1});
  void* const handle = dlopen(library != nullptr ? library : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return 1;
  const auto reset = reinterpret_cast<void (*)()>(dlsym(handle, "fd_softgpu_reset"));
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(handle, "cuInit"));
  if (reset == nullptr || init == nullptr) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::vector<std::string> names;
    const pid_t child = fork();
    if (child == 0) {
      for (std::string word; words >> word;)
        if (const auto equals = word.find('='); equals != std::string::npos)
          setenv(word.substr(0, equals).c_str(), word.c_str() + equals + 1, 1);
        else names.push_back(word);
      reset();
      init(0);
      std::string said = run(names);
      said += '\n';
      const bool written = write(STDOUT_FILENO, said.data(), said.size()) == static_cast<ssize_t>(said.size());
      reset();  // writes its files
      _exit(written ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::printf("crashed\n");
    std::printf(".\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace fd::test

// FNV-1a over the bytes of a product whose rows are nine blocks.
void print_bits() {
  for (const auto precision : {fd::Precision::fp32, fd::Precision::fp64}) {
    const auto numbers = fd::test::results(*fd::make_backend({"cuda", "", 1}),
                                           {"bits", precision, fd::test::Kind::symmetric, 1100, 3, 8, 2}, false);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < numbers.size() * sizeof(double); ++i)
      hash = (hash ^ reinterpret_cast<const unsigned char*>(numbers.data())[i]) * 0x100000001b3u;
    std::printf("%016llx\n", static_cast<unsigned long long>(hash));
  }
}

int main(int count, char** arguments) {
  const std::vector<std::string> names(arguments + 1, arguments + count);
  if (names == std::vector<std::string>{"--list"}) {
    for (const auto& one : fd::test::cases()) std::puts(one.name.c_str());
    return 0;
  }
  if (names == std::vector<std::string>{"--bits"}) return print_bits(), 0;
  if (names == std::vector<std::string>{"--serve"}) return fd::test::serve();
  return std::string(fd::test::run(names)) == "ok" ? 0 : 1;
}
