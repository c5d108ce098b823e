#include "backends/cpu/cpu_backend.hpp"

#include <cmath>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/instruction_set.hpp"
#include "backends/cpu/measure_limit.hpp"
#include "backends/cpu/packed_points.hpp"
#include "backends/cpu/pass_runner.hpp"
#include "backends/host_panel.hpp"
#include "base/random.hpp"
#include "base/team.hpp"

namespace fd {
namespace {

using cpu::CpuPoints;

// Tall-block sums are cut into at most this many pieces of rows, whatever the number of threads: the cut decides the bits.
constexpr std::size_t pieces_of_rows = 64;

struct Pieces {
  std::size_t rows, size, count;
  explicit Pieces(std::size_t n) : rows(n), size((n + pieces_of_rows - 1) / pieces_of_rows) {
    size = std::max<std::size_t>(cpu::panel_rows * 8, (size + cpu::panel_rows - 1) / cpu::panel_rows * cpu::panel_rows);
    count = (n + size - 1) / size;
  }
  std::size_t first(std::size_t piece) const { return piece * size; }
  std::size_t length(std::size_t piece) const { return std::min(size, rows - first(piece)); }
};

// The verbs in one arithmetic.
template <class T>
class Core {
 public:
  Core(const cpu::TileKernels<T>& kernels, Team& team, std::optional<std::size_t> keep_bytes, bool one_bandwidth)
      : kernels_(kernels),
        team_(team),
        keeps_(keep_bytes.has_value()),
        one_bandwidth_(one_bandwidth),
        runner_(kernels, team, keep_bytes.value_or(0), one_bandwidth) {}

  void xgemm(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z, bool symmetric, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough, double negligible) {
    const auto [packed_x, packed_z] = packed(beta, x, z, enough);
    runner_.product(packed_x, packed_z, symmetric, HostColumns<T>(w), HostColumns<T>(y), watch, negligible);
  }

  void mass(double beta, const CpuPoints<T>& x, Columns y, Watch* watch, double negligible) {
    runner_.mass(packed(beta, x, x, {}).first, HostColumns<T>(y), watch, negligible);
  }

  void xgemm_pair(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z,
                  Share share, Watch* watch, std::optional<Precision> enough, double negligible, Turn turn) {
    const auto [packed_x, packed_z] = packed(beta, x, z, enough);
    runner_.product_pair(packed_x, packed_z, HostColumns<T>(w_x), HostColumns<T>(w_z), HostColumns<T>(y_x), HostColumns<T>(y_z),
                         share, watch, negligible, turn);
  }

  void mass_pair(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z, Columns y_x, Columns y_z, Share share, Watch* watch,
                 double negligible, Turn turn) {
    const auto [packed_x, packed_z] = packed(beta, x, z, {});
    runner_.mass_pair(packed_x, packed_z, HostColumns<T>(y_x), HostColumns<T>(y_z), share, watch, negligible, turn);
  }

  cpu::Coding coding(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z, std::optional<Precision> enough) const {
    const double own = traits(x.precision()).row_error, permitted = enough ? std::max(own, traits(*enough).row_error) : own;
    const bool kept =
        keeps_ && one_fit(x, z) && cpu::kept_as_a_rule(x.layout()->rows(), x.dimension(), sizeof(T), one_bandwidth_);
    return cpu::coding_for(kept ? cpu::Numbers::floats : kernels_.few, bounds(beta, x, z), permitted);
  }

  void release_tiles() { runner_.release_tiles(); }  // the other arithmetic is used now: the memory is for its own

  double low_precision_error(double beta, const CpuPoints<T>& x, Precision enough) const {
    return cpu::coding_error(coding(beta, x, x, enough), bounds(beta, x, x), static_cast<double>(x.layout()->rows()));
  }

  MachineLimit limit() {
    constexpr int repeats = 5;
    return cpu::measure_limit(kernels_, team_, repeats);
  }

  Eigen::MatrixXd gram(Columns a_columns, Columns b_columns) {
    const HostColumns<T> a(a_columns), b(b_columns);
    const Pieces pieces(a.rows);
    const std::size_t size = a.count * b.count;
    partial_.assign(pieces.count * size, 0.0);
    team_.run(pieces.count, [&](std::size_t piece, int worker) {
      const std::size_t first = pieces.first(piece);
      kernels_.gram(a.row(first), a.stride, a.count, b.row(first), b.stride, b.count, pieces.length(piece),
                    partial_.data() + piece * size, runner_.scratch(worker));
    });
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto na = static_cast<Eigen::Index>(a.count), nb = static_cast<Eigen::Index>(b.count);
    Eigen::MatrixXd g = Eigen::MatrixXd::Zero(na, nb);
    for (std::size_t piece = 0; piece < pieces.count; ++piece)
      g += Eigen::Map<const RowMajor>(partial_.data() + piece * size, na, nb);
    return g;
  }

  void combine(Columns a_columns, const Eigen::MatrixXd& s, Columns y_columns, bool accumulate) {
    const HostColumns<T> a(a_columns), y(y_columns);
    const std::size_t padded = (y.count + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
    coefficients_.at_least(std::max<std::size_t>(1, a.count * padded));
    for (std::size_t m = 0; m < a.count; ++m)
      for (std::size_t e = 0; e < padded; ++e)
        coefficients_[m * padded + e] =
            e < y.count ? static_cast<T>(s(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(e))) : T{0};
    each_piece(a.rows, [&](std::size_t first, std::size_t rows, int worker) {
      kernels_.combine(a.row(first), a.stride, a.count, coefficients_.data(), padded, y.row(first), y.stride, y.count, rows,
                       accumulate, runner_.scratch(worker));
    });
  }

  void copy(Columns a_columns, Columns y_columns) {
    const HostColumns<T> a(a_columns), y(y_columns);
    if (a.data == y.data) return;
    each_piece(a.rows, [&](std::size_t first, std::size_t rows, int) {
      for (std::size_t i = first; i < first + rows; ++i) std::copy_n(a.row(i), a.count, y.row(i));
    });
  }

  void add(Columns a_columns, Columns y_columns) {
    const HostColumns<T> a(a_columns), y(y_columns);
    each_piece(a.rows, [&](std::size_t first, std::size_t rows, int) {
      for (std::size_t i = first; i < first + rows; ++i)
        for (std::size_t c = 0; c < a.count; ++c) y(i, c) += a(i, c);
    });
  }

  void scale_rows(Columns scale, Columns a_columns, Columns y_columns, bool add) {
    const HostColumns<T> s(scale), a(a_columns), y(y_columns);
    each_piece(a.rows, [&](std::size_t first, std::size_t rows, int) {
      for (std::size_t i = first; i < first + rows; ++i) {
        const T factor = s(i, 0), *const from = a.row(i);
        T* const to = y.row(i);
        if (a.count == 2) {  // the width of a chain: no loop for each row
          const T left = factor * from[0], right = factor * from[1];
          to[0] = add ? left + to[0] : left;
          to[1] = add ? right + to[1] : right;
        } else
          for (std::size_t c = 0; c < a.count; ++c) to[c] = factor * from[c] + (add ? to[c] : T{0});
      }
    });
  }

  void randomize(Columns columns, std::uint64_t seed, std::uint64_t stream) {
    const HostColumns<T> a(columns);
    each_piece(a.rows, [&](std::size_t first, std::size_t rows, int) {
      for (std::size_t c = 0; c < a.count; ++c) {
        const Random random(seed, stream + c);
        for (std::size_t i = first; i < first + rows; ++i)
          a(i, c) = static_cast<T>(random.normal(columns.panel->layout()->row(i)));
      }
    });
  }

  void upload(const double* host, Columns columns) {
    const HostColumns<T> a(columns);
    each_row(columns, [&](std::size_t place, std::size_t row) {
      for (std::size_t c = 0; c < a.count; ++c) a(place, c) = static_cast<T>(host[row * a.count + c]);
    });
  }

  void download(Columns columns, double* host) {
    const HostColumns<T> a(columns);
    each_row(columns, [&](std::size_t place, std::size_t row) {
      for (std::size_t c = 0; c < a.count; ++c) host[row * a.count + c] = static_cast<double>(a(place, c));
    });
  }

 private:
  using Packed = std::pair<const cpu::PackedPoints<T>&, const cpu::PackedPoints<T>&>;

  // The same points, or rows of the same ones on two ranks, which are known to hold copies or not.
  static bool one_fit(const CpuPoints<T>& x, const CpuPoints<T>& z) {
    return &x == &z || (x.table() != 0 && x.table() == z.table());
  }

  // A symmetric product's rows hold their own point.
  static cpu::Bounds bounds(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z) {
    const double norm = std::max(x.norm(beta), z.norm(beta));
    const double distance = one_fit(x, z) ? std::min(2 * norm, mean_distance(static_cast<double>(x.layout()->rows()))) : 2 * norm;
    return {norm, std::max(x.coordinate(beta), z.coordinate(beta)), distance, static_cast<double>(x.dimension())};
  }

  // In fixed point where that keeps the promise; relative to local centres where either wants them.
  Packed packed(double beta, const CpuPoints<T>& x, const CpuPoints<T>& z, std::optional<Precision> enough) {
    if (const cpu::Coding few = coding(beta, x, z, enough); few.numbers != cpu::Numbers::floats)
      return {x.packed(beta, few, team_), z.packed(beta, few, team_)};
    const double reference =
        keeps_ && one_fit(x, z) && x.dimension() >= cpu::columns_worth_keeping ? cpu::reference_beta(x, beta) : beta;
    const bool others = !one_fit(x, z), local = x.wants_local(reference, others) || z.wants_local(reference, others);
    return {x.packed(beta, reference, local, others, team_), z.packed(beta, reference, local, others, team_)};
  }

  template <class F>
  void each_piece(std::size_t rows, F&& f) {
    const Pieces pieces(rows);
    team_.run(pieces.count, [&](std::size_t piece, int worker) { f(pieces.first(piece), pieces.length(piece), worker); });
  }

  template <class F>
  void each_row(Columns a, F&& f) {
    const Layout& layout = *a.panel->layout();
    each_piece(a.rows(), [&](std::size_t first, std::size_t rows, int) {
      for (std::size_t i = first; i < first + rows; ++i) f(i, layout.local_row(i));
    });
  }

  const cpu::TileKernels<T>& kernels_;
  Team& team_;
  bool keeps_, one_bandwidth_;
  cpu::PassRunner<T> runner_;
  std::vector<double> partial_;
  AlignedBuffer<T> coefficients_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const cpu::ChosenKernels& kernels, int threads, std::optional<std::size_t> keep_bytes, bool one_bandwidth)
      : isa_(kernels.isa),
        keeps_(keep_bytes.has_value()),
        keep_bytes_(keep_bytes.value_or(0)),
        one_bandwidth_(one_bandwidth),
        team_(threads),
        single_(*kernels.f32, team_, keep_bytes, one_bandwidth),
        double_(*kernels.f64, team_, keep_bytes, one_bandwidth) {}

  std::string name() const override { return "cpu"; }
  std::string description() const override {
    return "cpu " + isa_ + ", " + std::to_string(team_.threads()) + (team_.threads() == 1 ? " thread" : " threads");
  }
  std::string isa() const override { return isa_; }

  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole) override {
    if (traits(precision).wide_panels) return std::make_unique<CpuPoints<double>>(centred, precision, whole);
    return std::make_unique<CpuPoints<float>>(centred, precision, whole);
  }
  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    if (traits(precision).wide_panels) return std::make_unique<HostPanel<double>>(layout, columns, precision);
    return std::make_unique<HostPanel<float>>(layout, columns, precision);
  }
  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    product(beta, x, x, true, w, y, watch, enough, negligible);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough) override {
    product(beta, x, z, false, w, y, watch, enough, 0);
  }
  double low_precision_error(double beta, const Points& x, Precision enough) const override {
    const PrecisionTraits &own = traits(x.precision()), &looser = traits(enough);
    if (own.wide_panels || own.row_error >= looser.row_error) return 0;
    return single_.low_precision_error(beta, as<float>(x), enough);
  }
  Kept kept(std::size_t rows, std::size_t dimension, Precision precision) const override {
    if (cpu::keeping(rows, dimension, one_bandwidth_) == cpu::Keeping::nothing) return {};
    const double all = cpu::bytes_of_all_tiles(rows, traits(precision).wide_panels ? sizeof(double) : sizeof(float));
    const double bytes = std::min(all, static_cast<double>(keep_bytes_));
    return {bytes / all, bytes};
  }
  bool keeps_as_a_rule(std::size_t rows, std::size_t dimension, Precision precision) const override {
    const std::size_t bytes = traits(precision).wide_panels ? sizeof(double) : sizeof(float);
    return keeps_ && cpu::kept_as_a_rule(rows, dimension, bytes, one_bandwidth_);
  }
  MachineLimit limit(Precision precision) override { return traits(precision).wide_panels ? double_.limit() : single_.limit(); }
  void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible) override {
    if (is_double(y)) single_.release_tiles(), double_.mass(beta, as<double>(x), y, watch, negligible);
    else double_.release_tiles(), single_.mass(beta, as<float>(x), y, watch, negligible);
  }
  void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z, Share share,
                  Watch* watch, std::optional<Precision> enough, double negligible, Turn turn) override {
    if (is_double(w_x))
      double_.xgemm_pair(beta, as<double>(x), as<double>(z), w_x, w_z, y_x, y_z, share, watch, enough, negligible, turn);
    else single_.xgemm_pair(beta, as<float>(x), as<float>(z), w_x, w_z, y_x, y_z, share, watch, enough, negligible, turn);
  }
  void mass_pair(double beta, const Points& x, const Points& z, Columns y_x, Columns y_z, Share share, Watch* watch,
                 double negligible, Turn turn) override {
    if (is_double(y_x)) double_.mass_pair(beta, as<double>(x), as<double>(z), y_x, y_z, share, watch, negligible, turn);
    else single_.mass_pair(beta, as<float>(x), as<float>(z), y_x, y_z, share, watch, negligible, turn);
  }
  // Parts small enough that a visitor and its messages are little beside what a rank has of its own, and large enough to give many threads work.
  std::size_t parts(std::size_t rows) const override { return std::clamp<std::size_t>(rows / 4096, 1, 8); }
  Places places(const Points& points, std::size_t part, std::size_t parts) const override {
    return traits(points.precision()).wide_panels ? as<double>(points).places(part, parts)
                                                  : as<float>(points).places(part, parts);
  }
  void send_points(const Points& points, Places some, Archive& to) override {
    bool wide = traits(points.precision()).wide_panels;
    to(wide);
    wide ? as<double>(points).write(to, some) : as<float>(points).write(to, some);
  }
  std::unique_ptr<Points> visitor(Archive& from) override {
    bool wide = false;
    from(wide);
    if (wide) return std::make_unique<CpuPoints<double>>(from);
    return std::make_unique<CpuPoints<float>>(from);
  }
  void send_rows(Columns a, Places some, Archive& to) override {
    is_double(a) ? send_host_rows(HostColumns<double>(a), some.first, some.count, to)
                 : send_host_rows(HostColumns<float>(a), some.first, some.count, to);
  }
  void receive_rows(Archive& from, Columns y, Places some, bool accumulate) override {
    is_double(y) ? receive_host_rows(from, HostColumns<double>(y), some.first, some.count, accumulate)
                 : receive_host_rows(from, HostColumns<float>(y), some.first, some.count, accumulate);
  }
  void copy(Columns a, Columns y) override { is_double(a) ? double_.copy(a, y) : single_.copy(a, y); }
  void add(Columns a, Columns y) override { is_double(a) ? double_.add(a, y) : single_.add(a, y); }
  Eigen::MatrixXd gram(Columns a, Columns b) override { return is_double(a) ? double_.gram(a, b) : single_.gram(a, b); }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) override {
    is_double(a) ? double_.combine(a, s, y, accumulate) : single_.combine(a, s, y, accumulate);
  }
  void scale_rows(Columns scale, Columns a, Columns y) override {
    is_double(a) ? double_.scale_rows(scale, a, y, false) : single_.scale_rows(scale, a, y, false);
  }
  void multiply_add(Columns scale, Columns a, Columns y) override {
    is_double(a) ? double_.scale_rows(scale, a, y, true) : single_.scale_rows(scale, a, y, true);
  }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) override {
    is_double(a) ? double_.randomize(a, seed, stream) : single_.randomize(a, seed, stream);
  }
  void upload(const double* host, Columns a) override { is_double(a) ? double_.upload(host, a) : single_.upload(host, a); }
  void download(Columns a, double* host) override { is_double(a) ? double_.download(a, host) : single_.download(a, host); }

 private:
  void product(double beta, const Points& x, const Points& z, bool symmetric, Columns w, Columns y, Watch* watch,
               std::optional<Precision> enough, double negligible) {
    if (is_double(w)) double_.xgemm(beta, as<double>(x), as<double>(z), symmetric, w, y, watch, enough, negligible);
    else single_.xgemm(beta, as<float>(x), as<float>(z), symmetric, w, y, watch, enough, negligible);
  }
  static bool is_double(Columns a) { return traits(a.precision()).wide_panels; }
  template <class T>
  static const CpuPoints<T>& as(const Points& points) {
    return static_cast<const CpuPoints<T>&>(points);
  }

  std::string isa_;
  bool keeps_;
  std::size_t keep_bytes_;
  bool one_bandwidth_;
  Team team_;
  Core<float> single_;
  Core<double> double_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const std::string& isa, int threads, std::optional<std::size_t> keep_bytes,
                                          bool one_bandwidth) {
  return std::make_unique<CpuBackend>(cpu::choose_kernels(isa), threads, keep_bytes, one_bandwidth);
}

std::vector<std::string> cpu_instruction_sets() { return cpu::available_instruction_sets(); }

}  // namespace fd
