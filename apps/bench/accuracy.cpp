// accuracy: how well the kernel product keeps its promise at a size no dense reference reaches.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/precision.hpp>

#include "base/pieces.hpp"
#include "base/random.hpp"
#include "base/worst.hpp"
#include "bench/figures.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/sampled_rows.hpp"
#include "bench/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/made_points.hpp"
#include "common/validators.hpp"
#include "device/backend.hpp"

namespace fd::cli {
namespace {

struct AccuracyWish {
  std::size_t rows = 65536, compared = 256, threads = 0;
  std::string points, isa;
  double beta = 0;
  bool json = false;
};

struct AccuracyCase {
  std::string name;
  std::size_t rows, dimension;
  std::vector<double> x;
  double beta;
};

AccuracyCase torus_case(std::size_t rows, double offset) {
  AccuracyCase made{offset > 0 ? fmt::format("torus + {:g}", offset) : "torus", rows, 12, {}, 0.5};
  const Table points = torus(rows, made.dimension);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < made.dimension; ++c) made.x.push_back(offset + points(i, c));
  return made;
}

// Two normal clusters 10^3 apart, at a bandwidth for the inside of one.
AccuracyCase clusters(std::size_t rows) {
  AccuracyCase made{"two clusters 1000 apart", rows, 8, std::vector<double>(rows * 8), 0.5};
  const Random random(5, 0);
  for (std::size_t i = 0; i < made.x.size(); ++i) made.x[i] = random.normal(i);
  for (std::size_t i = 0; i < rows; i += 2) made.x[i * 8] += 1e3;
  return made;
}

AccuracyCase from_file(const AccuracyWish& wish) {
  const auto source = open_interruptible(wish.points);
  AccuracyCase made{wish.points, source->rows(), source->dimension(), {}, wish.beta};
  made.x.resize(made.rows * made.dimension);
  in_pieces(*source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count * made.dimension; ++i)
      if (!std::isfinite(rows[i]))
        throw Error(Failure::input,
                    fmt::format("{}: row {} holds a value that is not finite", wish.points, first + i / made.dimension + 1),
                    "take such rows out first");
    std::copy_n(rows, count * made.dimension, made.x.begin() + static_cast<std::ptrdiff_t>(first * made.dimension));
  });
  return made;
}

// The largest |y_i - sum_j k_ij w_j| over sum_j k_ij |w_j|, j != i, over rows spread evenly; the sums in long double.
double largest_row_error(const AccuracyCase& problem, const AccuracyWish& wish, Precision precision) {
  const std::size_t n = problem.rows, dimension = problem.dimension;
  const auto backend = make_backend({"cpu", wish.isa, checked_threads(wish.threads)});
  ViewSource source(PointsView(problem.x.data(), n, dimension));
  const auto points = backend->load(source, precision);
  auto in = backend->panel(points->layout(), 1, precision), out = backend->panel(points->layout(), 1, precision);
  std::vector<double> w(n), y(n);
  const Random random(9, 0);
  for (std::size_t i = 0; i < n; ++i)
    w[i] = std::abs(static_cast<float>(random.normal(i)));  // of one sign: errors that lean to one side add up
  backend->upload(w.data(), *in);
  InterruptWatch watch;
  backend->xgemm(problem.beta, *points, *in, *out, &watch);
  backend->download(*out, y.data());

  double largest = 0;
  const std::size_t step = std::max<std::size_t>(1, n / wish.compared);
  for (std::size_t i = 0; i < n; i += step) {
    throw_if_interrupted();
    long double sum = 0, scale = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      long double squared = 0;
      for (std::size_t c = 0; c < dimension; ++c) {
        const long double apart = static_cast<long double>(problem.x[i * dimension + c]) - problem.x[j * dimension + c];
        squared += apart * apart;
      }
      if (problem.beta * static_cast<double>(squared) > 100) continue;  // below what a row of 10^7 could show
      const long double entry = std::exp(-static_cast<long double>(problem.beta) * squared);
      sum += entry * w[j];
      scale += entry * std::abs(w[j]);
    }
    // a row without neighbours is exactly zero
    const auto error = std::abs(static_cast<double>(scale == 0 ? static_cast<long double>(y[i]) : (y[i] - sum) / scale));
    largest = worse(largest, error);
  }
  return largest;
}

int run_accuracy(const AccuracyWish& wish) {
  std::vector<AccuracyCase> cases;
  if (wish.points.empty()) {
    cases.push_back(torus_case(wish.rows, 0));
    cases.push_back(torus_case(wish.rows, 1e4));
    cases.push_back(clusters(wish.rows));
  } else {
    cases.push_back(from_file(wish));
  }
  nlohmann::ordered_json document = {{"machine", machine_json({})}, {"rows", nlohmann::ordered_json::array()}};
  if (!wish.json)
    print_result(fmt::format(
        "{}\nLargest error of a row of K W over K |W|, of {} rows, against sums in long double.\n{:<28} {:>9} {:>5} {:>9}  {:<5} "
        "{:>9} {:>9}\n",
        document["machine"].dump(), wish.compared, "points", "n", "D", "beta", "", "error", "promise"));
  bool kept = true;
  for (const AccuracyCase& problem : cases)
    for (const Precision precision : {Precision::bf16, Precision::tf32, Precision::fp32, Precision::fp64}) {
      const double error = largest_row_error(problem, wish, precision), promise = traits(precision).row_error;
      kept = kept && error <= promise;
      document["rows"].push_back({{"points", problem.name},
                                  {"n", problem.rows},
                                  {"dimension", problem.dimension},
                                  {"beta", problem.beta},
                                  {"precision", traits(precision).name},
                                  {"error", figure(error)},
                                  {"promise", promise}});
      if (!wish.json)
        print_result(fmt::format("{:<28} {:>9} {:>5} {:>9.4g}  {:<5} {:>9.1e} {:>9.0e}{}\n", problem.name, problem.rows,
                                 problem.dimension, problem.beta, traits(precision).name, error, promise,
                                 error <= promise ? "" : "  BROKEN"));
    }
  if (wish.json) print_result(document.dump(2) + "\n");
  return kept ? done : numbers;
}

}  // namespace

Action declare_accuracy(CLI::App& app, const std::vector<std::string>&) {
  auto wish = std::make_shared<AccuracyWish>();
  app.add_option("--n", wish->rows, "points of the cases it makes")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_option("--compared", wish->compared, "rows compared")
      ->check(positive_whole_number)
      ->type_name("N")
      ->capture_default_str();
  auto* points = app.add_option("--points", wish->points, "a file of points instead")->type_name("FILE");
  auto* beta = app.add_option("--beta", wish->beta, "its bandwidth")->check(positive_number)->type_name("B")->needs(points);
  points->needs(beta);
  app.add_option("--isa", wish->isa, "instruction set (the best there is)")->type_name("NAME");
  app.add_option("--threads", wish->threads, "0: all cores")->check(whole_number)->type_name("N")->capture_default_str();
  app.add_flag("--json", wish->json, "one JSON document");
  app.footer(
      "Exit status 1 where an error is above what the precision promises.\nExamples:\n  flashdiffusion-bench accuracy --n "
      "20000\n  "
      "flashdiffusion-bench accuracy --points points.npy --beta 0.5");
  return [wish] { return run_accuracy(*wish); };
}

}  // namespace fd::cli
