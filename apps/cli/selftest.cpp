// flashdiffusion selftest: every back-end, instruction set and precision of this build on this machine against the naive
// reference, with bounds that follow from the arithmetic.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/version.hpp>

#include "base/random.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/interrupt.hpp"
#include "device/backend.hpp"

namespace fd::cli {
namespace {

constexpr double beta = 1;
constexpr std::size_t columns = 5;
constexpr Precision precisions[] = {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16};

// Sizes that are no multiple of any vector or tile.
struct Size {
  std::size_t rows, others, dimension;
};
constexpr Size sizes[] = {{257, 131, 7}, {67, 259, 1}, {129, 33, 45}, {3, 5, 2}};

struct Values {
  std::size_t rows, columns;
  std::vector<double> data;
};

// Normal points of expected squared norm 1; rounded to float so that no precision loses anything by storing them.
Values random_values(std::size_t rows, std::size_t width, double scale, std::uint64_t stream) {
  Values v{rows, width, std::vector<double>(rows * width)};
  const Random random(1, stream);
  for (std::size_t i = 0; i < v.data.size(); ++i) v.data[i] = static_cast<float>(scale * random.normal(i));
  return v;
}

double largest_norm(const Values& points) {
  double largest = 0;
  for (std::size_t i = 0; i < points.rows; ++i) {
    double square = 0;
    for (std::size_t c = 0; c < points.columns; ++c)
      square += points.data[i * points.columns + c] * points.data[i * points.columns + c];
    largest = std::max(largest, square);
  }
  return std::sqrt(largest);
}

// The three kernel passes of a back-end, from host memory to host memory.
struct Passes {
  std::vector<double> symmetric, rectangular, mass;
};

Passes run_passes(Backend& backend, Precision precision, const Values& x, const Values& z, const Values& wx, const Values& wz) {
  ViewSource source_x(PointsView(x.data.data(), x.rows, x.columns)), source_z(PointsView(z.data.data(), z.rows, z.columns));
  const auto points_x = backend.load(source_x, precision), points_z = backend.load(source_z, precision);
  const auto in_x = backend.panel(points_x->layout(), columns, precision),
             in_z = backend.panel(points_z->layout(), columns, precision);
  const auto out = backend.panel(points_x->layout(), columns, precision), sums = backend.panel(points_x->layout(), 2, precision);
  Passes result{std::vector<double>(x.rows * columns), std::vector<double>(x.rows * columns), std::vector<double>(x.rows * 2)};
  backend.upload(wx.data.data(), *in_x);
  backend.upload(wz.data.data(), *in_z);
  backend.xgemm(beta, *points_x, *in_x, *out, nullptr);
  backend.download(*out, result.symmetric.data());
  backend.xgemm(beta, *points_x, *points_z, *in_z, *out, nullptr);
  backend.download(*out, result.rectangular.data());
  backend.mass(beta, *points_x, *sums, nullptr);
  backend.download(*sums, result.mass.data());
  return result;
}

Values absolute(Values v) {
  for (double& value : v.data) value = std::abs(value);
  return v;
}

struct Row {
  std::string backend, isa, precision;
  double error = 0;       // largest |y - y_ref| / (K |W|)
  double share = 0;       // largest error as a share of its bound
  bool same_bits = true;  // for one thread and for three
  bool good() const { return share <= 1 && same_bits; }
};

void compare(const std::vector<double>& values, const std::vector<double>& truth, const std::vector<double>& scale, double bound,
             Row& row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = std::abs(values[i] - truth[i]);
    const double relative =
        std::isfinite(difference) ? (difference == 0 ? 0 : difference / scale[i]) : std::numeric_limits<double>::infinity();
    row.error = std::max(row.error, relative);
    row.share = std::max(row.share, relative / bound);
  }
}

// y_i = sum_j K_ij w_j. With unit roundoff u the squared distance |x|^2 + |z|^2 - 2 x.z carries (D + 3) u (|x| + |z|)^2, its error
// times beta is the relative error of K_ij; the precision adds eta on the factors and on the exponential, and n terms are
// summed. All relative to (K |W|)_i; entries of the squared kernel carry twice the error of an entry.
void check_size(Backend& backend, Backend& serial, Backend& reference, Precision precision, const Size& size, Row& row) {
  const double scale = 1 / std::sqrt(static_cast<double>(size.dimension));
  const Values x = random_values(size.rows, size.dimension, scale, 1), z = random_values(size.others, size.dimension, scale, 2);
  const Values wx = random_values(size.rows, columns, 1, 3), wz = random_values(size.others, columns, 1, 4);
  const Passes got = run_passes(backend, precision, x, z, wx, wz);
  const Passes alone = run_passes(serial, precision, x, z, wx, wz);
  const Passes truth = run_passes(reference, Precision::fp64, x, z, wx, wz);
  const Passes weight = run_passes(reference, Precision::fp64, x, z, absolute(wx), absolute(wz));
  const double eta = traits(precision).eta, unit = traits(precision).wide_panels ? 0x1p-53 : 0x1p-24;
  const double reach = beta * std::pow(largest_norm(x) + std::max(largest_norm(x), largest_norm(z)), 2);
  const double entry = eta * (4 + reach) + unit * static_cast<double>(size.dimension + 3) * reach;
  const double sum = unit * static_cast<double>(std::max(size.rows, size.others));
  compare(got.symmetric, truth.symmetric, weight.symmetric, entry + sum, row);
  compare(got.rectangular, truth.rectangular, weight.rectangular, entry + sum, row);
  compare(got.mass, truth.mass, truth.mass, 2 * entry + sum, row);
  row.same_bits =
      row.same_bits && got.symmetric == alone.symmetric && got.rectangular == alone.rectangular && got.mass == alone.mass;
}

struct Absent {
  std::string backend, why;
};

std::vector<Row> check_all(std::vector<Absent>& absent) {
  std::vector<Row> rows;
  const auto reference = make_backend({"reference", "", 1});
  for (const std::string& name : backend_names()) {
    if (name == "auto") continue;
    const std::vector<std::string> sets = name == "cpu" ? instruction_sets() : std::vector<std::string>{""};
    for (const std::string& isa : sets) {
      std::unique_ptr<Backend> backend, serial;
      try {
        backend = make_backend({name, isa, 3}), serial = make_backend({name, isa, 1});
      } catch (const Error& error) {
        if (error.kind() != Failure::device) throw;
        absent.push_back({name, error.what()});
        continue;
      }
      for (const Precision precision : precisions) {
        Row row{name, backend->isa(), std::string(traits(precision).name)};
        for (const Size& size : sizes) {
          throw_if_interrupted();
          check_size(*backend, *serial, *reference, precision, size, row);
        }
        rows.push_back(row);
      }
    }
  }
  return rows;
}

int run_selftest(bool json) {
  std::vector<Absent> absent;
  const std::vector<Row> rows = check_all(absent);
  const auto bad = std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.good(); });
  if (json) {
    nlohmann::ordered_json document = {
        {"build", build_description()}, {"rows", nlohmann::json::array()}, {"absent", nlohmann::json::array()}, {"ok", bad == 0}};
    for (const Absent& one : absent) document["absent"].push_back({{"backend", one.backend}, {"why", one.why}});
    for (const Row& row : rows)
      document["rows"].push_back({{"backend", row.backend},
                                  {"isa", row.isa},
                                  {"precision", row.precision},
                                  {"error", row.error},
                                  {"share_of_bound", row.share},
                                  {"same_for_any_threads", row.same_bits},
                                  {"ok", row.good()}});
    print_result(document.dump(2) + "\n");
  } else {
    std::string text = build_description() + "\n\n" +
                       fmt::format("{:<11}{:<12}{:<11}{:<11}{:<10}{:<9}{}\n", "back-end", "isa", "precision", "error", "of bound",
                                   "threads", "");
    for (const Row& row : rows)
      text +=
          fmt::format("{:<11}{:<12}{:<11}{:<11.1e}{:<10}{:<9}{}\n", row.backend, row.isa, row.precision, row.error,
                      fmt::format("{:.1f} %", 100 * row.share), row.same_bits ? "same" : "DIFFER", row.good() ? "ok" : "WRONG");
    for (const Absent& one : absent) text += fmt::format("{:<11}not here: {}\n", one.backend, one.why);
    print_result(text);
  }
  if (bad == 0) return done;
  complain(fmt::format("{} of {} combinations give wrong numbers", bad, rows.size()),
           "avoid them with FLASHDIFFUSION_ISA, and report the table above");
  return numbers;
}

}  // namespace

Action declare_selftest(CLI::App& app, const std::vector<std::string>&) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document on standard output");
  app.footer("Examples:\n  flashdiffusion selftest\n  flashdiffusion selftest --json");
  return [json] { return run_selftest(*json); };
}

}  // namespace fd::cli
