// reproduce keops: the kernel product alone, appendix B. Ours and KeOps on the same points and weights, where a Python has pykeops.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/kernel_operator.hpp>

#include "base/power_law.hpp"
#include "base/random.hpp"
#include "base/team.hpp"
#include "base/worst.hpp"
#include "common/interrupt.hpp"
#include "common/made_points.hpp"
#include "common/python_process.hpp"
#include "common/temporary_folder.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/keops_script_text.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

constexpr std::size_t columns = 32;
constexpr double beta = 1;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Product {
  std::size_t block;  // columns of W
  const char *name, *table;
};
constexpr Product products[] = {{1, "matvec", "matvec"}, {8, "matmat", "matmat"}};

// KeOps as it comes, and with the compiler options that a user who wants speed would give.
constexpr const char* keops_flags[] = {"default", "tuned"};

struct Row {
  std::size_t n = 0;
  Value ours;                    // seconds of a product
  double keops[2] = {nan, nan};  // by flags
  double exact = nan;            // error of ours, against sums in double
  std::optional<double> apart;   // ours from KeOps'
};

Table torus_in_float(std::size_t n) {
  const Table wide = cli::padded_torus(n, columns, 42);
  Table points(n, columns, false);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c) points.set(i, c, wide(i, c));
  return points;
}

Table weights_of(std::size_t n, std::size_t block) {
  Table weights(n, block, false);
  for (std::size_t i = 0; i < n; ++i) {
    cli::throw_if_interrupted();
    for (std::size_t c = 0; c < block; ++c) weights.set(i, c, Random(43, c).normal(i));
  }
  return weights;
}

// |ours - theirs| / |theirs| over the rows that `theirs` gives: row, column -> value.
template <class F>
double relative_difference(const Table& ours, const std::vector<std::size_t>& rows, F&& theirs) {
  double difference = 0, size = 0;
  for (const std::size_t row : rows)
    for (std::size_t c = 0; c < ours.columns(); ++c) {
      const double value = theirs(row, c);
      difference += (ours(row, c) - value) * (ours(row, c) - value);
      size += value * value;
    }
  return std::sqrt(difference / size);
}

std::vector<std::size_t> spread_rows(std::size_t n, std::size_t most) {
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < std::min(n, most); ++k) rows.push_back(k * n / std::min(n, most));
  return rows;
}

double error_in_double(const Table& points, const Table& weights, const Table& ours) {
  const std::vector<std::size_t> rows = spread_rows(points.rows(), 16);
  return relative_difference(ours, rows, [&](std::size_t row, std::size_t column) {
    double sum = 0;
    for (std::size_t j = 0; j < points.rows(); ++j) {
      cli::throw_if_interrupted();
      double square = 0;
      for (std::size_t c = 0; c < 2 * cli::torus_circles; ++c) square += std::pow(points(row, c) - points(j, c), 2);
      sum += std::exp(-beta * square) * weights(j, column);
    }
    return sum;
  });
}

// Over applications, at least three and for half a second, after one that warms up.
Value time_ours(const KernelOperator& kernel, const Table& weights, const Setup& setup, Table& result) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  double total = 0;
  result = kernel.apply(weights.view(), setup.observer);
  while (seconds.size() < 3 || (total < 0.5 && seconds.size() < 100)) {
    const auto start = Clock::now();
    result = kernel.apply(weights.view(), setup.observer);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += seconds.back();
  }
  return median_of(seconds);
}

// KeOps is given so many pairs of points at most, as a power of two; as it comes it takes seconds for 2^26.
unsigned most_pairs(const Setup& setup) { return setup.quick ? 22 : 28; }

class Keops {
 public:
  explicit Keops(const Setup& setup)
      : threads_(setup.threads > 0 ? setup.threads : available_cores()), log_pairs_(most_pairs(setup)) {
    std::ofstream(folder_.file("keops.py")) << keops_script_text;
    process_ = std::make_unique<cli::PythonProcess>(
        setup.python, std::vector<std::string>{folder_.file("keops.py"), "--serve", folder_.file("cache")}, threads_,
        std::vector<std::string>{"pykeops", "numpy"});
    if (!setup.python.empty() && !process_->runs())
      throw Error(Failure::misuse, fmt::format("--python {}: {}", setup.python, process_->failure()), "name a Python 3");
    if (!process_->has("pykeops") || !process_->has("numpy"))
      note_ = "no Python here has pykeops; `pip install pykeops numpy` in a virtual environment, and name its Python by --python";
  }
  bool available() const { return note_.empty(); }
  // Why something of it is missing: it is not there, or the last failure.
  const std::string& note() const { return note_.empty() ? failure_ : note_; }
  std::string version() const { return process_->version("pykeops"); }

  // KeOps makes some rows of the product, over all columns: to it each row is the same work. Seconds are those of all rows.
  void measure(Row& row, const Table& points, const Table& weights, const Table& ours, std::size_t flags) {
    const std::size_t n = points.rows();
    constexpr std::size_t slice = 512;
    const std::size_t rows = std::min(n, std::max(slice, (std::size_t{1} << log_pairs_) / n));
    write_table(points, folder_.file("points.npy"));
    write_table(weights, folder_.file("weights.npy"));
    const nlohmann::json answer = process_->ask({{"flags", keops_flags[flags]},
                                                 {"n", n},
                                                 {"rows", rows},
                                                 {"dimension", columns},
                                                 {"block", weights.columns()},
                                                 {"threads", threads_},
                                                 {"beta", beta},
                                                 {"points", folder_.file("points.npy")},
                                                 {"weights", folder_.file("weights.npy")},
                                                 {"result", folder_.file("result.npy")}});
    if (!answer.contains("ns")) {
      const nlohmann::json why = answer.value("error", nlohmann::json());
      failure_ =
          fmt::format("KeOps failed at N = {}: {}", n, why.is_string() ? why.get<std::string>() : std::string("no message"));
      return;
    }
    row.keops[flags] = answer.at("ns").get<double>() * 1e-9 * static_cast<double>(n) * static_cast<double>(n);
    const auto result = open_points({folder_.file("result.npy")});
    std::vector<double> values(result->rows() * result->dimension());
    result->read(0, result->rows(), values.data());
    std::vector<std::size_t> all(result->rows());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const double apart =
        relative_difference(ours, all, [&](std::size_t i, std::size_t c) { return values[i * result->dimension() + c]; });
    row.apart = worse(row.apart.value_or(apart), apart);
  }

 private:
  cli::TemporaryFolder folder_;
  int threads_;
  unsigned log_pairs_;
  std::unique_ptr<cli::PythonProcess> process_;
  std::string note_, failure_;
};

std::vector<Row> measure(const Setup& setup, const Product& product, Keops& keops, const std::vector<std::size_t>& sizes) {
  std::vector<Row> rows;
  for (const std::size_t n : sizes) {
    setup.begin(fmt::format("keops, {}, N = {}", product.name, n));
    const Table points = torus_in_float(n), weights = weights_of(n, product.block);
    Row row;
    row.n = n;
    Table result;
    Options options = setup.options();
    options.memory_bytes = 0;  // every application evaluates the kernel, as KeOps does and the paper
    row.ours = time_ours(KernelOperator(points.view(), beta, options), weights, setup, result);
    row.exact = error_in_double(points, weights, result);
    for (std::size_t flags = 0; flags < (setup.quick ? 1 : 2) && keops.available(); ++flags)
      keops.measure(row, points, weights, result, flags);
    rows.push_back(row);
  }
  return rows;
}

ResultTable table_of(const Product& product, const std::vector<Row>& rows, const PaperTable& paper, const Keops& keops,
                     bool both) {
  ResultTable table{product.name,
                    fmt::format("Seconds of K W with {} column{}, D = 32, β = 1, fp32. Paper: one RTX PRO 6000.", product.block,
                                product.block > 1 ? "s" : ""),
                    {{"N"},
                     {"XGEMM, paper", "s"},
                     {"KeOps, paper", "s"},
                     {"ours", "s"},
                     {"KeOps here", "s"},
                     {"KeOps tuned", "s"},
                     {"KeOps tuned over ours"},
                     {"error of ours"},
                     {"ours from KeOps"}},
                    {}};
  for (const Row& row : rows) {
    const std::size_t at = paper.row_of("n", static_cast<double>(row.n));
    const auto peer = [&](double seconds, bool asked = true) {
      return seconds == seconds   ? Value(seconds)
             : !keops.available() ? Value("needs pykeops")
             : asked              ? Value("failed")
                                  : Value();
    };
    table.rows.push_back({static_cast<double>(row.n), paper.value(at, "xgemm", "xgemm_sd"), paper.value(at, "keops", "keops_sd"),
                          row.ours, peer(row.keops[0]), peer(row.keops[1], both), row.keops[1] / row.ours.number, row.exact,
                          row.apart.value_or(nan)});
  }
  return table;
}

Figure figure_of(const Product& product, const std::vector<Row>& rows, const PaperTable& paper) {
  Figure figure{product.name,
                fmt::format("{} (b = {})", product.name, product.block),
                "The paper's figure 4: a GPU there, this machine here.",
                {"N", true},
                {"seconds", true},
                {}};
  figure.series = {{"paper, XGEMM", Source::paper, paper.points("n", "xgemm", "xgemm_sd")},
                   {"paper, KeOps", Source::paper, paper.points("n", "keops", "keops_sd")}};
  Series ours{"ours", Source::ours, {}}, theirs{"KeOps here", Source::ours, {}}, tuned{"KeOps tuned", Source::ours, {}};
  for (const Row& row : rows) {
    const auto n = static_cast<double>(row.n);
    ours.points.push_back({n, row.ours.number, row.ours.spread > 0 ? row.ours.spread : 0});
    if (row.keops[0] == row.keops[0]) theirs.points.push_back({n, row.keops[0]});
    if (row.keops[1] == row.keops[1]) tuned.points.push_back({n, row.keops[1]});
  }
  figure.series.push_back(ours);
  for (const Series& series : {theirs, tuned})
    if (!series.points.empty()) figure.series.push_back(series);
  const std::size_t last = paper.rows() - 1;
  const double to = paper.at(last, "n"), seconds = paper.at(last, "xgemm"), from = 1048576;
  figure.series.push_back({"N²", Source::guide, {{from, seconds * std::pow(from / to, 2)}, {to, seconds}}});
  return figure;
}

// `note`: why KeOps was not timed.
void compare_speed(const Product& product, const std::vector<Row>& rows, const PaperTable& paper, const std::string& note,
                   Result& result) {
  const Row& last = rows.back();
  const std::size_t at = paper.row_of("n", static_cast<double>(last.n));
  const double ratio = at < paper.rows() ? paper.at(at, "keops") / paper.at(at, "xgemm") : nan;
  const std::string claim = fmt::format("{}: time of KeOps over ours at N = {}", product.name, last.n);
  const double theirs = last.keops[1] == last.keops[1] ? last.keops[1] : last.keops[0];
  if (std::isnan(ratio)) result.comparisons.push_back(unmeasured(claim, paper.where(), {}, "the paper has no such N"));
  else if (theirs == theirs)
    result.comparisons.push_back(stated(claim, paper.where(), ratio, theirs / last.ours.number,
                                        theirs / last.ours.number >= 0.95 * ratio, "at least the paper's ratio, less 5 %",
                                        "the paper's is of a GPU"));
  else result.comparisons.push_back(unmeasured(claim, paper.where(), ratio, note));
  const std::string similar = fmt::format("{}: ours and KeOps take similar times, ratio at N = {}", product.name, last.n);
  const std::string where = paper_place("keops", "similar_times");
  if (theirs == theirs)
    result.comparisons.push_back(stated(similar, where, "similar", theirs / last.ours.number,
                                        theirs <= 2.5 * last.ours.number && last.ours.number <= 2.5 * theirs,
                                        "within a factor of 2.5, as the paper's own at N = 2^24 (2.5 and 1.0)",
                                        theirs > last.ours.number
                                            ? "KeOps is the slower one on this machine; the paper's ran on a GPU of its own"
                                            : "ours is the slower one on this machine; the paper's ran on a GPU of its own"));
  else result.comparisons.push_back(unmeasured(similar, where, "similar", note));
  std::vector<std::pair<double, double>> late;
  for (const Row& row : rows)
    if (row.n >= 8192) late.emplace_back(static_cast<double>(row.n), row.ours.number);
  const std::string law = fmt::format("{}: time grows as N^2", product.name);
  const double squared = paper_number("keops", "time_exponent");
  const Exponent exponent = power_law(late);
  if (!far_enough_apart(late))
    result.comparisons.push_back(
        unmeasured(law, paper.where(), squared, "needs two sizes of 8192 or more, a factor of two apart"));
  else
    result.comparisons.push_back(
        compared(law, paper.where(), squared, Value(exponent.value, exponent.uncertainty), 0.2, "within 0.2, from N = 8192",
                 exponent.value < squared ? "what does not grow as N^2 may still count at these sizes"
                                          : "larger sizes may have left the caches, or other programs disturbed them"));
}

// exact: of ours against sums in double; apart: of ours from KeOps', where both are there.
void compare_accuracy(double exact, const std::optional<double>& apart, const std::string& note, Result& result) {
  const double agreement = paper_number("keops", "agreement");
  const std::string place = paper_place("keops", "agreement");
  const char* both = "ours and KeOps agree, largest relative difference";
  if (apart) result.comparisons.push_back(stated(both, place, agreement, *apart, *apart <= agreement, "at most 1e-6"));
  else result.comparisons.push_back(unmeasured(both, place, agreement, note));
  result.comparisons.push_back(stated("ours agrees with sums in double, largest relative error", place, agreement, exact,
                                      exact <= agreement, "at most 1e-6"));
  for (const Product& product : products) {
    const PaperTable paper("keops", product.table);
    result.comparisons.push_back(unmeasured(fmt::format("{}: seconds of a GPU at N = 2^24", product.name), paper.where(),
                                            paper.at(paper.rows() - 1, "xgemm"), "another machine here; the figures show both"));
  }
}

void check_keops(const Setup& setup) {
  for (const std::size_t n : setup.sizes)
    if (n < 2) throw Error(Failure::misuse, fmt::format("--n {}: a product needs two points or more", n), "give 2 or more");
  if (!setup.python.empty()) Keops given(setup);  // that it runs
}

std::vector<std::size_t> sizes_of(const Setup& setup) {
  std::vector<std::size_t> sizes = setup.sizes;
  const std::size_t last = setup.quick ? 13 : 18;
  if (sizes.empty())
    for (std::size_t power = 10; power <= last; power += setup.quick ? 3 : 1) sizes.push_back(std::size_t{1} << power);
  return sizes;
}

void claims_of_keops(const Setup& setup, Result& result) {
  std::vector<Row> rows;
  for (const std::size_t n : sizes_of(setup)) rows.emplace_back().n = n;
  for (const Product& product : products) compare_speed(product, rows, PaperTable("keops", product.table), {}, result);
  compare_accuracy(nan, {}, {}, result);
}

Result run_keops(const Setup& setup) {
  Result result;
  result.name = "keops";
  result.title = "The kernel product: ours, KeOps, and the paper's";
  const std::vector<std::size_t> sizes = sizes_of(setup);
  Keops keops(setup);
  double exact = 0;
  std::optional<double> apart;
  for (const Product& product : products) {
    const PaperTable paper("keops", product.table);
    const std::vector<Row> rows = measure(setup, product, keops, sizes);
    for (const Row& row : rows) {
      exact = worse(exact, row.exact);
      if (row.apart) apart = worse(apart.value_or(*row.apart), *row.apart);
    }
    result.tables.push_back(table_of(product, rows, paper, keops, !setup.quick));
    result.figures.push_back(figure_of(product, rows, paper));
    compare_speed(product, rows, paper, keops.note(), result);
  }
  compare_accuracy(exact, apart, keops.note(), result);
  result.notes.push_back(fmt::format(
      "Points: the torus of t6, seed 42, in 32 columns, rounded to fp32; weights: standard normal. Ours: medians over at least "
      "three "
      "applications, ± half the width of the middle half; nothing of the kernel is kept from one to the next. KeOps: median over "
      "slices of 512 rows, over all columns, scaled to all rows, at most 2^{} pairs; compiled before it is timed; as it comes{}.",
      most_pairs(setup), setup.quick ? "" : ", and tuned with `CXXFLAGS=\"-march=native -ffast-math\"`"));
  result.notes.push_back(keops.available() ? "pykeops " + keops.version() + "." : "KeOps was not timed: " + keops.note() + ".");
  if (keops.available() && !keops.note().empty()) result.notes.push_back(keops.note() + ".");
  if (!(exact <= paper_number("keops", "agreement")))
    result.fault("Ours is further from sums in double than single precision explains.");
  result.answer = apart ? fmt::format("Ours and KeOps {} differ by at most {:.1e}; ours is within {:.1e} of sums in double.",
                                      keops.version(), *apart, exact)
                        : fmt::format("Ours is within {:.1e} of sums in double; {}.", exact, keops.note());
  return result;
}

}  // namespace

Running declare_keops(CLI::App&) {
  Running running{run_keops, claims_of_keops};
  running.check = check_keops;
  return running;
}

}  // namespace fd::reproduce
