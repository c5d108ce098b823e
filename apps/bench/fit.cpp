// fit: whole fits, from points in memory to a model, beside what a user with numpy or scikit-learn waits for; in turn in one run, in
// warm processes.
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "base/worst.hpp"
#include "bench/figures.hpp"
#include "bench/fit_tables.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/python_peer.hpp"
#include "bench/sampled_rows.hpp"
#include "bench/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/temporary_folder.hpp"
#include "common/validators.hpp"
#include "fit/resources.hpp"
#include "io/write_table.hpp"

namespace fd::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FitWish {
  std::vector<std::string> tables;
  std::vector<std::size_t> sizes = {1500, 8000, 16000};
  std::vector<int> threads = {1};
  std::string points, precision = "fp32", python;
  std::optional<double> beta;
  std::size_t modes = 10, repeats = 5, sklearn_rows = 4000;
  double tolerance = 1e-5;
  std::size_t block = 0, basis = 0;
  bool peers = true, flow = false, json = false, processor_time = false;
};

// Where a fit spends its time, by the stages that it reports; what comes after its last report is "finish".
class StageClock final : public InterruptObserver {
 public:
  void progress(const Progress& progress) override {
    const auto now = Clock::now();
    add(stage_, now);
    stage_ = progress.stage;
  }
  std::map<std::string, double> seconds() {
    add("finish", Clock::now());
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void add(const std::string& stage, Clock::time_point now) {
    seconds_[stage] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  std::string stage_ = "start";
  std::map<std::string, double> seconds_;
  Clock::time_point last_ = Clock::now();
};

// The largest memory of this process from here on; only Linux forgets what was before.
bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

struct FitCase {
  std::string name;
  Table points;
  double beta;
};

Options options_of(const FitWish& wish, int threads, std::optional<double> beta) {
  Options options;
  options.modes = wish.modes;
  options.tolerance = wish.tolerance;
  options.block = wish.block;
  options.basis = wish.basis;
  options.precision = {precision_from_name(wish.precision)};
  options.threads = threads;
  options.beta = beta;
  options.keep_points = false;
  return options;
}

// What a side of the comparison took, call by call; the first call, which warms up, does not count.
struct Calls {
  std::vector<double> seconds;
  std::string note;  // why there is no time
  std::vector<double> values;
  double bytes = std::numeric_limits<double>::quiet_NaN();

  void add(double taken, bool warming) {
    if (!warming) seconds.push_back(taken);
  }
  double median() const { return seconds.empty() ? std::numeric_limits<double>::quiet_NaN() : sample_of(seconds).median; }
};

class Comparison {
 public:
  Comparison(const FitWish& wish, const FitCase& problem, int threads, PythonPeer* python, const std::string& file)
      : wish_(wish), case_(problem), threads_(threads), python_(python), file_(file) {}

  Json row() {
    std::map<std::string, Calls> peers;
    if (python_ != nullptr)
      for (const char* name : {"numpy", "sklearn"}) peers[name].note = refusal(name);
    Calls ours, chosen;
    for (std::size_t call = 0; call <= wish_.repeats; ++call) {  // in turn: what disturbs one disturbs all
      const bool warming = call == 0;
      time_ours(ours, case_.beta, warming);
      if (wish_.flow) time_ours(chosen, {}, warming);
      for (auto& [name, calls] : peers)
        if (calls.note.empty()) time_theirs(calls, name, warming);
    }
    const Sample own = sample_of(ours.seconds);
    Json row = {{"table", case_.name},
                {"n", case_.points.rows()},
                {"dimension", case_.points.columns()},
                {"beta", case_.beta},
                {"modes", wish_.modes},
                {"threads", threads_},
                {"time_of", wish_.processor_time ? "processor" : "clock"},
                {"seconds", own.median},
                {"spread", own.spread},
                {"passes", model_.passes},
                {"columns", model_.columns},
                {"bytes", figure(ours.bytes)},
                {"converged", model_.converged},
                {"stages", stages_},
                {"flow_seconds", figure(chosen.median())},
                {"flow_beta", figure(flow_beta_)}};
    for (const char* name : {"numpy", "sklearn"}) {
      const Calls& calls = peers[name];
      const std::string prefix = name;
      row[prefix + "_seconds"] = figure(calls.median());
      row["over_" + prefix] = figure(calls.median() / own.median);
      row[prefix + "_bytes"] = figure(calls.bytes);
      row[prefix + "_note"] = python_ == nullptr ? "not asked for" : calls.note;
    }
    row["value_difference"] =
        peers["numpy"].values.empty() ? Json(nullptr) : figure(difference(ours.values, peers["numpy"].values));
    row["ok"] = model_.converged && (peers["numpy"].values.empty() || !row["value_difference"].is_null());
    return row;
  }

 private:
  void time_ours(Calls& calls, std::optional<double> beta, bool warming) {
    Options options = options_of(wish_, threads_, beta);
    const bool forgotten = forget_peak();
    StageClock clock;
    options.observer = &clock;
    Model model;
    const auto work = [&] { model = fit(case_.points.view(), options); };
    calls.add(wish_.processor_time ? processor_seconds_of(work) : seconds_of(work), warming);
    if (!beta) {
      flow_beta_ = model.beta;
      return;
    }
    stages_ = clock.seconds();
    calls.values = model.eigenvalues;
    if (forgotten) calls.bytes = static_cast<double>(peak_resident_bytes());
    model_ = std::move(model);
  }

  void time_theirs(Calls& calls, const std::string& name, bool warming) {
    const nlohmann::json answer = python_->ask({{"peer", name},
                                                {"points", file_},
                                                {"beta", case_.beta},
                                                {"alpha", 0.5},
                                                {"modes", wish_.modes},
                                                {"tolerance", wish_.tolerance}});
    if (answer.contains("error")) {
      calls.note = answer["error"].get<std::string>();
      calls.seconds.clear();
      return;
    }
    calls.add(answer[wish_.processor_time ? "processor_seconds" : "seconds"].get<double>(), warming);
    if (answer["peak_rss_bytes"].is_number()) calls.bytes = answer["peak_rss_bytes"].get<double>();
    if (answer["eigenvalues"].is_array()) calls.values = answer["eigenvalues"].get<std::vector<double>>();
  }

  // Why a peer is not asked; empty: it is. Both store the kernel, scikit-learn several times, in fp64, and factorises it.
  std::string refusal(const std::string& name) const {
    if (const std::string missing = python_->missing(name); !missing.empty()) return missing;
    const auto n = static_cast<double>(case_.points.rows());
    if (name == "sklearn" && case_.points.rows() > wish_.sklearn_rows)
      return fmt::format("above --sklearn-rows {}", wish_.sklearn_rows);
    const double needed = n * n * (name == "sklearn" ? 32 : 4) * 1.1;
    const auto there = static_cast<double>(available_memory_bytes());
    return there > 0 && needed > there ? fmt::format("needs {}", bytes_text(needed)) : "";
  }

  static double difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
    double largest = ours.size() == theirs.size() ? 0 : std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
      largest = worse(largest, std::abs(ours[i] - theirs[i]));
    return largest;
  }

  const FitWish& wish_;
  const FitCase& case_;
  int threads_;
  PythonPeer* python_;
  std::string file_;
  Model model_;
  double flow_beta_ = std::numeric_limits<double>::quiet_NaN();
  Json stages_;
};

// The given file's rows at a bandwidth that was asked for, or that the flow chooses on a few of them.
FitCase file_case(const FitWish& wish, std::size_t rows) {
  const auto source = open_interruptible(wish.points);
  FitCase made{wish.points, read_rows(*source, random_rows(source->rows(), rows), false), 0};
  if (wish.beta) made.beta = *wish.beta;
  else {
    ViewSource view(made.points.view());
    const Table some = read_rows(view, random_rows(made.points.rows(), 1500), false);
    InterruptObserver observer;
    Options options = options_of(wish, 0, {});
    options.observer = &observer;
    made.beta = fit(some.view(), options).beta;
  }
  return made;
}

constexpr const char* fit_layout = "{:<12} {:>7} {:>6} {:>8} {:>4} {:>8} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}  {}\n";

void print_fit_header(const Json& machine) {
  print_result(machine.dump() + "\n");
  print_result(fmt::format(fit_layout, "table", "n", "D", "threads", "k", "seconds", "spread", "passes", "memory", "flow",
                           "numpy", "sklearn", "x numpy", "remarks"));
}

void print_fit_row(const Json& row) {
  const auto bytes = row["bytes"].is_null() ? std::string("-") : bytes_text(row["bytes"].get<double>());
  std::string remarks = row["converged"].get<bool>() ? "" : "not converged; ";
  for (const char* name : {"numpy", "sklearn"})
    if (const std::string note = row[std::string(name) + "_note"]; !note.empty() && note != "not asked for")
      remarks += fmt::format("{}: {}; ", name, note);
  for (const auto& [stage, seconds] : row["stages"].items())
    if (seconds.get<double>() > 0.05 * row["seconds"].get<double>())
      remarks += fmt::format("{} {:.3f} s ", stage, seconds.get<double>());
  print_result(fmt::format(fit_layout, row["table"].get<std::string>(), row["n"].get<std::size_t>(),
                           row["dimension"].get<std::size_t>(), row["threads"].get<int>(), row["modes"].get<std::size_t>(),
                           figure_text(row["seconds"], "{:.3f}"), fmt::format("{:.0f}%", 100 * row["spread"].get<double>()),
                           row["passes"].get<std::size_t>(), bytes, figure_text(row["flow_seconds"], "{:.3f}"),
                           figure_text(row["numpy_seconds"], "{:.3f}"), figure_text(row["sklearn_seconds"], "{:.3f}"),
                           figure_text(row["over_numpy"], "{:.2f}"), remarks));
}

int run_fit(const FitWish& wish) {
  if (!(wish.tolerance > 0))
    throw Error(Failure::misuse, fmt::format("--tolerance {}: must be above zero", wish.tolerance), "1e-5 is the default");
  if (wish.beta && !(*wish.beta > 0 && std::isfinite(*wish.beta)))
    throw Error(Failure::misuse, fmt::format("--beta {}: must be a finite number above zero", *wish.beta),
                "the kernel is exp(-beta |x - y|^2)");
  std::vector<std::string> names = wish.tables;
  if (names.empty())
    for (const FitTable& table : fit_tables()) names.emplace_back(table.name);
  if (!wish.points.empty()) names = {wish.points};
  const TemporaryFolder folder;
  Json document = {{"machine", machine_json({})}, {"rows", Json::array()}};
  bool ok = true;
  for (const int threads : wish.threads) {
    const auto python = wish.peers ? std::make_unique<PythonPeer>(wish.python, threads) : nullptr;
    for (const std::size_t n : wish.sizes)
      for (const std::string& name : names) {
        throw_if_interrupted();
        const FitCase problem =
            wish.points.empty() ? FitCase{name, made(fit_table(name), n), fit_table(name).beta} : file_case(wish, n);
        const std::string file = folder.file(fmt::format("{}.npy", document["rows"].size()));
        if (python != nullptr && python->missing("numpy").empty()) write_table(problem.points, file);
        Json row = Comparison(wish, problem, threads, python.get(), file).row();
        std::filesystem::remove(file);
        ok = ok && row["ok"].get<bool>();
        if (!wish.json && document["rows"].empty()) print_fit_header(document["machine"]);
        if (!wish.json) print_fit_row(row);
        document["rows"].push_back(std::move(row));
      }
  }
  if (wish.json) print_result(document.dump(2) + "\n");
  return ok ? done : numbers;
}

constexpr const char* fit_footer =
    R"(Tables: circle (2 columns), torus12, torus24, binary64 (zeros and ones), torus80, torus256, torus784, torus5000: manifolds with noise, made
by the program, each at a bandwidth of its own. --points takes a file instead, all of it or --n random rows.
All times are medians of --repeats whole fits at a given bandwidth, from points in memory, after one that warms up; in turn in one run.
  passes     sweeps over the kernel, those for mass and degree included
  memory     the largest of the process during the fit; Linux only
  flow       a fit that chooses its bandwidth, with --flow
  numpy      the kernel stored in float32, ARPACK on it: bench/numpy_arpack.py (Debian: python3-numpy, python3-scipy)
  sklearn    SpectralEmbedding with an rbf kernel of the same bandwidth (Debian: python3-sklearn); its normalisation is another
  x numpy    how many times ours is faster
  remarks    what a peer lacks; the stages of our fit that took more than a twentieth of it (of its last call)
Exit status 1 where a fit did not converge, or its eigenvalues and numpy's could not be compared (value_difference in the JSON).

Examples:
  flashdiffusion-bench fit --n 1500,8000 --threads 1,2
  flashdiffusion-bench fit --table torus784,binary64 --n 8000 --no-peers --json
  flashdiffusion-bench fit --points points.npy --beta 0.4 -k 16)";

}  // namespace

Action declare_fit(CLI::App& app, const std::vector<std::string>&) {
  auto wish = std::make_shared<FitWish>();
  std::vector<std::string> names;
  for (const FitTable& table : fit_tables()) names.emplace_back(table.name);
  auto* tables = app.add_option("--table", wish->tables, "which of the made tables, a comma list (all)")
                     ->delimiter(',')
                     ->check(CLI::IsMember(names))
                     ->type_name("NAME,...");
  auto* points = app.add_option("--points", wish->points, "a file of points instead")->type_name("FILE")->excludes(tables);
  app.add_option("--beta", wish->beta, "its bandwidth (chosen by the flow on 1500 of its rows)")
      ->check(real_number)
      ->type_name("B")
      ->needs(points);
  auto* sizes = app.add_option("--n", wish->sizes, "numbers of points")
                    ->delimiter(',')
                    ->check(positive_whole_number)
                    ->type_name("N,...")
                    ->capture_default_str();
  app.add_option("--threads", wish->threads, "numbers of threads, of both sides")
      ->delimiter(',')
      ->check(positive_whole_number)
      ->type_name("N,...")
      ->capture_default_str();
  const auto count = [&](const char* name, std::size_t& value, const char* help) {
    return app.add_option(name, value, help)->check(positive_whole_number)->type_name("N")->capture_default_str();
  };
  count("-k,--modes", wish->modes, "modes");
  app.add_option("--tolerance", wish->tolerance, "largest residual")->check(real_number)->type_name("T")->capture_default_str();
  app.add_option("--block", wish->block, "columns of a pass of ours; 0: chosen")->check(whole_number)->type_name("N");
  app.add_option("--basis", wish->basis, "largest basis of ours; 0: chosen")->check(whole_number)->type_name("N");
  app.add_option("--precision", wish->precision, "of ours: fp32 or fp64")->type_name("P")->capture_default_str();
  count("--repeats", wish->repeats, "timed fits of each");
  app.add_flag("--peers,!--no-peers", wish->peers, "also time numpy and scikit-learn (default), or only ours");
  app.add_option("--python", wish->python, "the Python that has them (the first that does)")->type_name("PATH");
  count("--sklearn-rows", wish->sklearn_rows, "most points that scikit-learn is given: its time grows with their cube");
  app.add_flag("--flow", wish->flow, "also time fits that choose their bandwidth");
  app.add_flag("--processor-time", wish->processor_time, "time of the processor, over all threads, instead of the clock's");
  app.add_flag("--json", wish->json, "one JSON document");
  app.footer(fit_footer);
  return [wish, sizes] {
    if (!wish->points.empty() && sizes->count() == 0) wish->sizes = {0};
    return run_fit(*wish);
  };
}

}  // namespace fd::cli
