#include "bench/xgemm_device.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/random.hpp"
#include "bench/figures.hpp"
#include "bench/gpu_bound.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/sampled_rows.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/made_points.hpp"
#include "device/backend.hpp"
#include "device/devices.hpp"

namespace fd::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double torus_beta = 0.5;

// A product that is fast and wrong is no figure: some rows, by sums in double. Largest |y_i - sum_j k_ij w_j| over the same sum of |w_j|.
double error_of_some_rows(const Table& x, const std::vector<double>& w, const std::vector<double>& y, std::size_t columns) {
  double largest = 0;
  for (const std::size_t i : random_rows(x.rows(), 5)) {
    throw_if_interrupted();
    std::vector<double> sum(columns, 0.0), size(columns, 0.0);
    for (std::size_t j = 0; j < x.rows(); ++j) {
      double squared = 0;
      for (std::size_t c = 0; c < x.columns(); ++c) squared += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
      const double entry = std::exp(-torus_beta * squared);
      for (std::size_t c = 0; c < columns; ++c) {
        size[c] += entry * std::abs(w[j * columns + c]);
        if (j != i) sum[c] += entry * w[j * columns + c];
      }
    }
    for (std::size_t c = 0; c < columns; ++c) {
      const double error = std::abs(y[i * columns + c] - sum[c]) / size[c];
      if (!(error <= largest)) largest = error;  // NaN stays
    }
  }
  return largest;
}

// Of all that share the rows: their bounds added up.
GpuBound::Rate bound_of(GpuBound& bound, const std::vector<DeviceFacts>& devices, std::size_t dimension, std::size_t columns) {
  GpuBound::Rate all;
  for (const DeviceFacts& device : devices) {
    const GpuBound::Rate one = bound.of(device, dimension, columns);
    if (&device == &devices.front()) all = one;
    else all.pipes += one.pipes, all.issued += one.issued, all.why = all.why.empty() ? one.why : all.why;
  }
  return all;
}

std::vector<DeviceFacts> chosen_devices(const DeviceXgemmWish& wish) {
  const std::vector<DeviceFacts> all = devices_of(wish.backend);
  if (wish.devices.empty()) return {all.begin(), all.begin() + (all.empty() ? 0 : 1)};
  std::vector<DeviceFacts> chosen;
  for (const int number : wish.devices)
    for (const DeviceFacts& device : all)
      if (device.number == number) chosen.push_back(device);
  return chosen;
}

Json measure_row(const DeviceXgemmWish& wish, Backend& backend, const std::vector<DeviceFacts>& devices, GpuBound& bound,
                 std::size_t n, std::size_t dimension, std::size_t block) {
  const Precision precision = precision_from_name(wish.precision);
  const Table x = torus(n, dimension);
  ViewSource source(x.view());
  const auto points = backend.load(source, precision);
  const auto w = backend.panel(points->layout(), block, precision), y = backend.panel(points->layout(), block, precision);
  backend.randomize(*w, 1, 0);
  InterruptWatch watch;
  const auto pass = [&] { backend.xgemm(torus_beta, *points, *w, *y, &watch, precision); };
  pass();  // packs points, grows memory
  std::vector<double> weights(n * block), sums(n * block), times;
  backend.download(*w, weights.data());
  backend.download(*y, sums.data());
  const double error = error_of_some_rows(x, weights, sums, block);
  for (double spent = 0; static_cast<int>(times.size()) < wish.repeats || spent < wish.seconds; spent += times.back())
    times.push_back(seconds_of(pass));
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  const Sample own = sample_of(times);
  GpuBound::Rate most;
  if (precision == Precision::fp32) most = bound_of(bound, devices, dimension, block);
  else most.why = "bounds are known for fp32 alone";
  return {{"dimension", dimension},
          {"block", block},
          {"n", n},
          {"precision", wish.precision},
          {"isa", backend.isa()},
          {"ns_per_pair", own.median / pairs * 1e9},
          {"best_ns_per_pair", own.best / pairs * 1e9},
          {"spread", own.spread},
          {"pairs_per_second", pairs / own.median},
          {"bound_by_pipes", figure(most.pipes)},
          {"busiest", most.busiest},
          {"of_pipes", figure(pairs / own.median / most.pipes)},
          {"bound_by_issue", figure(most.issued)},
          {"of_issue", figure(pairs / own.median / most.issued)},
          {"no_bound", most.why},
          {"row_error", figure(error)},
          {"promise", traits(precision).row_error},
          {"ok", error <= traits(precision).row_error}};
}

constexpr const char* device_layout = "{:>8} {:>4} {:>4} {:>10} {:>7} {:>9}  {:>9} {:>7} {:<7} {:>9} {:>7}  {:>9}\n";

}  // namespace

int run_device_xgemm(const DeviceXgemmWish& wish) {
  BackendRequest request;
  request.name = wish.backend;
  request.devices = wish.devices;
  request.ranks = static_cast<int>(std::max<std::size_t>(1, wish.devices.size()));
  const auto backend = make_backend(request);
  const std::vector<DeviceFacts> devices = chosen_devices(wish);
  GpuBound bound(wish.python);
  Json machine = machine_json({});
  machine["backend"] = backend->description();
  machine["devices"] = Json::array();
  for (const DeviceFacts& device : devices)
    machine["devices"].push_back({{"number", device.number},
                                  {"name", device.name},
                                  {"multiprocessors", device.multiprocessors},
                                  {"ghz", device.hertz / 1e9}});
  Json out = {{"machine", machine}, {"rows", Json::array()}};
  const auto print_line = [](const auto&... cells) { print_result(fmt::format(device_layout, cells...)); };
  if (!wish.json) {
    print_result(out["machine"].dump() +
                 "\nThe median pass, of ordered pairs of points a second, beside bounds that nothing reaches: by tensor cores, "
                 "exponentials and shared memory\n"
                 "alone, and by every instruction of the loops, some of which seldom run (bench/gpu_bounds.py). Rows: the "
                 "largest error of some of them.\n");
    print_line("", "", "", "", "", "", "bound by", "", "", "bound by", "", "");
    print_line("n", "D", "b", "ns/pair", "spread", "pairs/s", "pipes", "of it", "busiest", "issue", "of it", "rows");
  }
  bool good = true;
  std::set<std::string> unknown;
  for (const std::size_t n : wish.sizes)
    for (const std::size_t dimension : wish.dimensions)
      for (const std::size_t block : wish.blocks) {
        const Json row = measure_row(wish, *backend, devices, bound, n, dimension, block);
        out["rows"].push_back(row);
        good = good && row["ok"].get<bool>();
        if (const auto why = row["no_bound"].get<std::string>(); !why.empty()) unknown.insert(why);
        if (wish.json) continue;
        const auto text = [&](const char* name, const char* format) { return figure_text(row[name], format); };
        print_line(n, dimension, block, text("ns_per_pair", "{:.3g}"), fmt::format("{:.1f}%", 100 * row["spread"].get<double>()),
                   text("pairs_per_second", "{:.2e}"), text("bound_by_pipes", "{:.2e}"), text("of_pipes", "{:.3f}"),
                   row["busiest"].get<std::string>(), text("bound_by_issue", "{:.2e}"), text("of_issue", "{:.3f}"),
                   text("row_error", "{:.1e}"));
      }
  if (wish.json) print_result(out.dump(2) + "\n");
  else
    for (const std::string& why : unknown) print_result("no bound: " + why + "\n");
  if (good) return done;
  complain(fmt::format("rows are off by more than {} promises", wish.precision), "run `flashdiffusion selftest`");
  return numbers;
}

}  // namespace fd::cli
