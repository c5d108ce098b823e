// The options of a fit as words on a command line, and their translation to fd::Options. Every value is checked before any file is
// opened, and an error names the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <flashdiffusion/options.hpp>

namespace CLI {
class App;
}

namespace fd::cli {

// All spellings of the bandwidth of exp(-beta |x - y|^2). At most one may be given.
struct BandwidthArguments {
  std::optional<double> beta, sigma, gamma, epsilon;
  std::string convention;  // what epsilon means: pydiffmap, datafold, mdanalysis

  void declare(CLI::App& app, const char* group = "Bandwidth of exp(-beta |x-y|^2), at most one; without any the data choose");
  // beta; nothing where none was given. `otherwise`: the advice where the number is no bandwidth.
  std::optional<double> value(const char* otherwise = "leave the option out to have it chosen from the data") const;
  std::string origin() const;  // e.g. "given by --sigma 0.5"; empty where the flow is to choose
};

struct FitArguments {
  BandwidthArguments bandwidth;
  std::size_t modes = 16, block = 0, basis = 0, max_passes = 0;
  std::optional<std::size_t> components;
  double alpha = 0.5, tolerance = 1e-5;
  std::string select = "robust", precision = "fp32", backend = "auto", beta0_cap = "0.1", memory, trim = "auto";
  std::optional<double> beta0, beta_max;
  bool ladder = true, no_points = false, drop_localised = false;
  std::size_t threads = 0, ranks = 1, rows_a_rank = 2048;
  std::vector<int> devices;
  std::uint64_t seed = 42;

  void declare(CLI::App& app);
  Options options() const;  // throws Error(misuse)
  // A number of modes that was named is not lowered, as the default is where there are fewer rows: Error(misuse).
  void check_rows(std::size_t rows) const;
  // Options that were given and have no effect beside others: a line each.
  std::vector<std::string> without_effect() const;

 private:
  bool given(const char* option) const;
  const CLI::App* app_ = nullptr;
};

std::size_t parse_bytes(const std::string& text);  // "4G", "500MB", "1.5GiB", "123456"

nlohmann::json to_json(const Options& options);  // under the names of the command line
const char* name(Select select);

}  // namespace fd::cli
