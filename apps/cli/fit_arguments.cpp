#include "cli/fit_arguments.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/precision.hpp>

#include "common/backends.hpp"
#include "common/validators.hpp"
#include "fit/check_options.hpp"

namespace fd::cli {
namespace {

constexpr std::pair<const char*, Select> selectors[] = {
    {"robust", Select::robust}, {"minimum", Select::minimum}, {"paper", Select::paper}, {"continuation", Select::continuation}};

[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& wanted,
                         const std::string& hint = {}) {
  throw Error(Failure::misuse, fmt::format("{} {}: {}", option, value, wanted), hint);
}

double parse_number(const std::string& option, const std::string& text, const std::string& wanted) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(number)) refuse(option, text, wanted);
  return number;
}

std::vector<Precision> parse_precisions(const std::string& list) {
  std::vector<Precision> result;
  std::istringstream words(list + ",");
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty()) refuse("--precision", list, "an empty name in the list", "for instance: --precision fp32");
    result.push_back(precision_from_name(word));
  }
  return result;
}

}  // namespace

bool FitArguments::given(const char* option) const { return app_ != nullptr && app_->get_option(option)->count() > 0; }

void FitArguments::declare(CLI::App& app) {
  app_ = &app;
  const char* numbers = "Result";
  app.add_option("-k,--modes", modes, "nontrivial modes; the default takes all there are of fewer than 17 rows")
      ->check(whole_number)
      ->type_name("K")
      ->capture_default_str()
      ->group(numbers);
  app.add_option("--alpha", alpha, "density normalisation, 0 to 1")
      ->check(real_number)
      ->type_name("A")
      ->capture_default_str()
      ->group(numbers);
  app.add_option("--tolerance", tolerance, "largest residual |Mv - lambda v| of a pair")
      ->check(real_number)
      ->type_name("T")
      ->capture_default_str()
      ->group(numbers);
  app.add_flag("--drop-localised", drop_localised,
               "the K leading modes that do not live on fewer than 8 rows (or an eighth of few), instead of the K leading ones")
      ->group(numbers);
  app.add_flag("--no-points", no_points, "leave the points out of the model (transform then needs --points)")->group(numbers);

  bandwidth.declare(app);

  const char* flow = "How the bandwidth is chosen";
  app.add_option("--select", select,
                 "robust: where the error estimate is least, clear of modes on a few sparse rows; minimum: where it is least; "
                 "paper: as the "
                 "method's paper, by doubling; continuation: the largest at which the rows hold together")
      ->type_name("")
      ->capture_default_str()
      ->group(flow)
      ->check(CLI::IsMember({"robust", "minimum", "paper", "continuation"}));
  app.add_flag("--ladder,!--no-ladder", ladder, "try bandwidths on sub-samples first (default), or on all rows")->group(flow);
  app.add_option("--beta0", beta0, "first bandwidth tried")->check(real_number)->type_name("B")->group(flow);
  app.add_option("--beta0-cap", beta0_cap, "largest first bandwidth of paper and continuation, or none")
      ->type_name("B")
      ->capture_default_str()
      ->group(flow);
  app.add_option("--beta-max", beta_max, "largest bandwidth tried")->check(real_number)->type_name("B")->group(flow);
  app.add_option("--components", components,
                 "parts that the rows may fall into (the Perron gap is judged past them), at most K; found, if not given")
      ->check(whole_number)
      ->type_name("C")
      ->group(flow);

  app.add_option(
         "--trim", trim,
         "leave this fraction of the rows, the sparsest, out of the fit and place them afterwards; auto: where that buys a finer "
         "bandwidth, rows that the others do not resolve, at most 2 in 100; 0: none")
      ->type_name("F")
      ->capture_default_str()
      ->group(flow);

  const char* work = "How it is computed";
  app.add_option("--precision", precision, "fp64, fp32, tf32 or bf16; a comma list is a cascade")
      ->type_name("P")
      ->capture_default_str()
      ->group(work);
  app.add_option("--backend", backend, "what computes")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember(backend_choices()))
      ->group(work);
  app.add_option("--threads", threads, "0: all cores; the result does not depend on it")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--devices", devices, "GPUs that share the rows, such as 0,1; default: the first that answers")
      ->delimiter(',')
      ->check(whole_number)
      ->type_name("LIST")
      ->group(work);
  app.add_option("--ranks", ranks,
                 "threads that share the rows as the ranks of a cluster do; processes: mpirun -np N flashdiffusion fit")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--rows-a-rank", rows_a_rank, "ranks that would have fewer rows, of a sub-sample or of all, have none")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--block", block, "vectors a pass, at least 4 (32 from 25 modes on, 64 from 97); 0: chosen")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--basis", basis, "vectors kept, at least K + 3 blocks; 0: chosen")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--max-passes", max_passes, "give up after this many; 0: 50 + 4 K, more where passes are narrow")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
  app.add_option("--memory", memory,
                 "budget, such as 4G: a fit that needs more is refused, what is left keeps the kernel; 0: keep nothing; default: "
                 "what is free")
      ->type_name("SIZE")
      ->group(work);
  app.add_option("--seed", seed, "of the random start vectors and sub-samples")
      ->check(whole_number)
      ->type_name("N")
      ->capture_default_str()
      ->group(work);
}

Options FitArguments::options() const {
  Options o;
  o.modes = modes;
  o.alpha = alpha;
  o.beta = bandwidth.value();
  for (const auto& [word, rule] : selectors)
    if (select == word) o.select = rule;
  o.ladder = ladder;
  o.precision = parse_precisions(precision);
  o.backend = backend;
  o.threads = checked_threads(threads);
  o.rows_a_rank = rows_a_rank;
  o.devices = devices;
  o.ranks = static_cast<int>(std::min<std::size_t>(ranks, std::numeric_limits<int>::max()));
  o.block = block;
  o.basis = basis;
  o.tolerance = tolerance;
  o.max_passes = max_passes;
  if (given("--memory")) o.memory_bytes = parse_bytes(memory);
  o.beta0 = beta0;
  o.beta0_cap.reset();
  if (beta0_cap != "none") o.beta0_cap = parse_number("--beta0-cap", beta0_cap, "must be a number above zero, or none");
  o.beta_max = beta_max;
  o.components = components;
  if (trim != "auto") o.trim = parse_number("--trim", trim, "must be a fraction below 0.5, or auto");
  o.seed = seed;
  o.drop_localised = drop_localised;
  o.keep_points = !no_points;
  check_options(o);
  return o;
}

void FitArguments::check_rows(std::size_t rows) const {
  if (given("--modes") && rows >= 3 && modes >= rows)
    throw Error(Failure::misuse,
                fmt::format("{} modes were asked for, but {} points have at most {} nontrivial ones", modes, rows, rows - 1),
                "ask for fewer modes");
}

std::vector<std::string> FitArguments::without_effect() const {
  std::vector<std::string> lines;
  const auto note = [&](const char* option, const char* where) {
    if (given(option)) lines.push_back(fmt::format("{} has no effect {}", option, where));
  };
  if (bandwidth.value()) {
    for (const char* option : {"--select", "--ladder", "--beta0", "--beta0-cap", "--beta-max", "--components"})
      note(option, "where the bandwidth is given");
  } else if (beta0) {
    note("--beta0-cap", "beside --beta0");
  } else if (select == "robust" || select == "minimum") {
    note("--beta0-cap", "without --select paper or continuation");
  }
  return lines;
}

std::size_t parse_bytes(const std::string& text) {
  const std::string wanted = "must be a size such as 500M, 4G or 1.5GiB, or 0 to keep nothing";
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit;
  for (const char* c = end; *c != '\0'; ++c) unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  const bool binary = unit.size() == 3 && unit.substr(1) == "IB";
  if (binary) unit.resize(1);
  if (unit.size() == 2 && unit[1] == 'B') unit.resize(1);
  if (unit == "B") unit.clear();
  const std::string letters = "KMGTP";
  double factor = 1;
  if (!unit.empty()) {
    const auto power = letters.find(unit);
    if (unit.size() != 1 || power == std::string::npos) refuse("--memory", text, wanted);
    factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  }
  const bool none = number == 0 && end != text.c_str();
  if (end == text.c_str() || !(number * factor < 9e18) || (!none && !(number * factor >= 1))) refuse("--memory", text, wanted);
  return static_cast<std::size_t>(number * factor);
}

const char* name(Select select) {
  for (const auto& [word, rule] : selectors)
    if (select == rule) return word;
  return "";
}

nlohmann::json to_json(const Options& o) {
  const auto number_or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json precisions = nlohmann::json::array();
  for (const Precision precision : o.precision) precisions.push_back(std::string(traits(precision).name));
  return {{"modes", o.modes},
          {"alpha", o.alpha},
          {"beta", number_or_null(o.beta)},
          {"select", name(o.select)},
          {"ladder", o.ladder},
          {"precision", precisions},
          {"backend", o.backend},
          {"threads", o.threads},
          {"ranks", o.ranks},
          {"devices", o.devices},
          {"block", o.block},
          {"basis", o.basis},
          {"tolerance", o.tolerance},
          {"max_passes", o.max_passes},
          {"memory_bytes", o.memory_bytes ? nlohmann::json(*o.memory_bytes) : nlohmann::json()},
          {"beta0", number_or_null(o.beta0)},
          {"beta0_cap", number_or_null(o.beta0_cap)},
          {"beta_max", number_or_null(o.beta_max)},
          {"components", o.components ? nlohmann::json(*o.components) : nlohmann::json("auto")},
          {"seed", o.seed},
          {"trim", o.trim ? nlohmann::json(*o.trim) : nlohmann::json("auto")},
          {"drop_localised", o.drop_localised},
          {"keep_points", o.keep_points}};
}

}  // namespace fd::cli
