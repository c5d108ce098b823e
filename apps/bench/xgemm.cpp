// xgemm: the kernel product against what the machine can do at all, and against what a careful user gets from BLAS.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/error.hpp>

#include "bench/blas_peer.hpp"
#include "bench/figures.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/verb.hpp"
#include "bench/xgemm_device.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/made_points.hpp"
#include "common/validators.hpp"
#include "device/backend.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cli {
namespace {

using Json = nlohmann::ordered_json;

struct XgemmWish {
  std::vector<std::size_t> dimensions = {12, 32, 80, 256}, blocks = {1, 8, 16, 32}, sizes;  // no size: 16384, of a GPU 131072
  std::vector<int> threads = {1}, devices;
  std::string backend = "cpu", precision = "fp32", isa, python;
  int repeats = 5;
  double seconds = 2;
  bool blas = true, json = false;
};

// Asks for the times of a pass's tasks.
class TaskWatch final : public InterruptWatch {
 public:
  explicit TaskWatch(TaskTimes& times) : times_(times) {}
  TaskTimes* task_times() override { return &times_; }

 private:
  TaskTimes& times_;
};

// A product that is fast and wrong is no figure.
void check_finite(Backend& backend, Panel& y) {
  std::vector<double> values(y.rows() * y.columns());
  backend.download(y, values.data());
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    throw Error(Failure::device, fmt::format("{}: the kernel product holds values that are not finite", backend.isa()),
                "run `flashdiffusion selftest`, and choose another instruction set with --isa");
}

// `best`: the limit as far as this run has seen it; a row may find a better one.
Json measure_row(const XgemmWish& wish, std::size_t n, std::size_t dimension, std::size_t block, int threads,
                 MachineLimit& best) {
  const double beta = 0.5;
  const Precision precision = precision_from_name(wish.precision);
  const auto backend = make_backend({"cpu", wish.isa, threads});
  const Table x = torus(n, dimension);
  ViewSource source(x.view());
  const auto points = backend->load(source, precision);
  auto w = backend->panel(points->layout(), block, precision), y = backend->panel(points->layout(), block, precision);
  backend->randomize(*w, 1, 0);
  const BlasPeer peer(backend->isa());
  const bool with_peer = wish.blas && peer.available() && !traits(precision).wide_panels;
  std::vector<float> scaled, weights;
  if (with_peer) {
    const double scale = Gaussian::point_scale(beta);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < dimension; ++c) scaled.push_back(static_cast<float>(scale * x(i, c)));
    weights.assign(n * block, 0.5f);
  }
  Team team(threads);
  InterruptWatch warming;
  backend->xgemm(beta, *points, *w, *y, &warming);  // packs and warms up
  check_finite(*backend, *y);
  std::vector<double> ours, theirs;
  TaskTimes our_tasks(threads), their_tasks(threads);
  TaskWatch watch(our_tasks);
  // interleaved: what disturbs one disturbs all; many short passes rather than a few, so that some are not disturbed
  for (double spent = 0; static_cast<int>(ours.size()) < wish.repeats || spent < wish.seconds; spent += ours.back()) {
    // never the bandwidth of the pass before: points are packed anew, as in the first pass of a solve
    const double here = ours.size() % 2 == 0 ? beta * (1 + 1e-12) : beta;
    ours.push_back(seconds_of([&] { backend->xgemm(here, *points, *w, *y, &watch); }));
    best = better(best, measure_machine_limit(backend->isa(), precision, threads));
    if (with_peer) theirs.push_back(seconds_of([&] { peer.product(scaled, n, dimension, weights, block, team, their_tasks); }));
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  const Sample own = sample_of(ours);
  const double limit = best.seconds_per_pair(static_cast<double>(dimension), static_cast<double>(block));
  Json row = {{"dimension", dimension},
              {"block", block},
              {"threads", threads},
              {"n", n},
              {"precision", wish.precision},
              {"isa", backend->isa()},
              {"ns_per_pair", own.median / pairs * 1e9},
              {"best_ns_per_pair", own.best / pairs * 1e9},
              {"spread", own.spread},
              {"limit_ns", limit * 1e9},
              {"over_limit", own.median / pairs / limit},
              {"best_over_limit", own.best / pairs / limit},
              {"tenth_ns_per_pair", figure(our_tasks.fastest_tenth() * 1e9)},
              {"tenth_over_limit", figure(our_tasks.fastest_tenth() / limit)},
              {"outside_tasks", 1 - our_tasks.busy() / std::accumulate(ours.begin(), ours.end(), 0.0)}};
  for (const char* name : {"openblas_ns", "over_openblas", "best_over_openblas", "tenth_over_openblas"}) row[name] = nullptr;
  if (with_peer) {
    std::vector<double> over_peer;  // ratio by ratio: both sides of each were measured within the same second
    for (std::size_t i = 0; i < ours.size(); ++i) over_peer.push_back(theirs[i] / ours[i]);
    const Sample other = sample_of(theirs);
    row["openblas_ns"] = other.median / pairs * 1e9;
    row["over_openblas"] = sample_of(over_peer).median;
    row["best_over_openblas"] = other.best / own.best;
    row["tenth_over_openblas"] = figure(their_tasks.fastest_tenth() / our_tasks.fastest_tenth());
  }
  return row;
}

constexpr const char* xgemm_layout = "{:>7} {:>4} {:>4} {:>8} {:>9} {:>7} {:>8} {:>9}  {:>7} {:>7} {:>7}  {:>7} {:>7} {:>7}\n";

int run_xgemm(XgemmWish wish) {
  const bool gpu = wish.backend == "cuda";
  if (wish.sizes.empty()) wish.sizes = {gpu ? std::size_t{131072} : std::size_t{16384}};
  if (gpu)
    return run_device_xgemm({wish.backend, wish.precision, wish.python, wish.devices, wish.dimensions, wish.blocks, wish.sizes,
                             wish.repeats, wish.seconds, wish.json});
  if (!wish.devices.empty()) throw Error(Failure::misuse, "--devices is of --backend cuda");
  Json out = {{"machine", machine_json({})}, {"rows", Json::array()}};
  const auto print_line = [](const auto&... cells) { print_result(fmt::format(xgemm_layout, cells...)); };
  if (!wish.json) {
    print_result(fmt::format(
        "{}\nTime over the limit, and how many times slower OpenBLAS is: by the median pass of {} or more, by the fastest pass, "
        "and\n"
        "by the fastest tenth of the tasks that passes consist of, which is what a machine does that nobody else uses.\n"
        "Outside tasks: packing points and weights anew, adding up, waiting for one another.\n",
        out["machine"].dump(), wish.repeats));
    print_line("", "", "", "", "", "", "outside", "", "over", "the", "limit", "over", "Open", "BLAS");
    print_line("n", "D", "b", "threads", "ns/pair", "spread", "tasks", "limit", "median", "fastest", "tenth", "median", "fastest",
               "tenth");
  }
  std::map<int, MachineLimit> limits;  // by threads
  for (const std::size_t n : wish.sizes)
    for (const int threads : wish.threads)
      for (const std::size_t dimension : wish.dimensions)
        for (const std::size_t block : wish.blocks) {
          const auto row = measure_row(wish, n, dimension, block, threads, limits[threads]);
          out["rows"].push_back(row);
          if (wish.json) continue;
          const auto ratio = [&](const char* name) { return figure_text(row[name], "{:.3f}"); };
          print_line(n, dimension, block, threads, fmt::format("{:.4f}", row["ns_per_pair"].get<double>()),
                     fmt::format("{:.1f}%", 100 * row["spread"].get<double>()),
                     fmt::format("{:.2f}%", 100 * row["outside_tasks"].get<double>()),
                     fmt::format("{:.4f}", row["limit_ns"].get<double>()), ratio("over_limit"), ratio("best_over_limit"),
                     ratio("tenth_over_limit"), ratio("over_openblas"), ratio("best_over_openblas"),
                     ratio("tenth_over_openblas"));
        }
  if (wish.json) print_result(out.dump(2) + "\n");
  return done;
}

}  // namespace

Action declare_xgemm(CLI::App& app, const std::vector<std::string>&) {
  auto wish = std::make_shared<XgemmWish>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    app.add_option(name, values, help)->delimiter(',')->check(positive_whole_number)->type_name("N,...")->capture_default_str();
  };
  list("--dimension", wish->dimensions, "columns of the points");
  list("--block", wish->blocks, "vectors the kernel is applied to");
  list("--threads", wish->threads, "numbers of threads");
  list("--n", wish->sizes, "numbers of points (16384, on a GPU 131072)");
  app.add_option("--backend", wish->backend,
                 "cpu, against what this machine does at best; cuda, against the bounds of bench/gpu_bounds.py")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--devices", wish->devices, "GPUs that share the rows, such as 0,1 (the first that answers)")
      ->delimiter(',')
      ->check(whole_number)
      ->type_name("LIST");
  app.add_option("--python", wish->python, "Python for the bounds of a GPU (the first on the path)")->type_name("PROGRAM");
  app.add_option("--precision", wish->precision, "fp64, fp32, tf32 or bf16; the limit of the last two is fp32's")
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--isa", wish->isa, "instruction set (the best there is)")->type_name("NAME");
  app.add_option("--repeats", wish->repeats, "timed passes, at least")
      ->check(positive_whole_number)
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", wish->seconds, "seconds of timed passes, at least")
      ->check(real_number)
      ->type_name("S")
      ->capture_default_str();
  app.add_flag("--blas,!--no-blas", wish->blas, "also time OpenBLAS (default), where it is installed, or only ours");
  app.add_flag("--json", wish->json, "one JSON document");
  app.footer(
      "Examples:\n  flashdiffusion-bench xgemm\n  flashdiffusion-bench xgemm --dimension 12,32 --block 1,8 --threads 1,2 --n "
      "16384 "
      "--json\n  flashdiffusion-bench xgemm --backend cuda --block 1,8");
  return [wish] { return run_xgemm(*wish); };
}

}  // namespace fd::cli
