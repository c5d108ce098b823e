#include "fit/check_options.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "base/team.hpp"
#include "solver/plan.hpp"

namespace fd {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& hint) { throw Error(Failure::misuse, what, hint); }

void check_bandwidth(const char* name, const std::optional<double>& value, const char* hint) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    refuse(fmt::format("`{} = {}` is not a positive number", name, *value), hint);
}

// Each by itself.
void check_values(const Options& o) {
  if (o.modes == 0) refuse("`modes = 0`: at least one must be asked for", "16 is the default");
  if (!(o.alpha >= 0 && o.alpha <= 1)) refuse(fmt::format("`alpha = {}` is outside [0, 1]", o.alpha), "0, 0.5 and 1 are usual");
  check_bandwidth("beta", o.beta, "leave it out to let the data choose");
  check_bandwidth("beta0", o.beta0, "leave it out to start at the scale of the data");
  check_bandwidth("beta0_cap", o.beta0_cap, "0.1 is the default");
  check_bandwidth("beta_max", o.beta_max, "leave it out for no bound");
  if (o.trim && !(*o.trim >= 0 && *o.trim < 0.5))
    refuse(fmt::format("`trim = {}` is outside [0, 0.5)", *o.trim), "0.01 leaves one row in a hundred out");
  // M has norm 1: a residual of 1 is reached by any vector whatever
  if (!(o.tolerance > 0 && o.tolerance < 1))
    refuse(fmt::format("`tolerance = {}` is outside (0, 1)", o.tolerance), "1e-5 is the default");
  if (o.precision.empty()) refuse("`precision` names none", "fp32 is the default");
  for (const Precision precision : o.precision) traits(precision);  // throws for what is none
  if (o.components == 0) refuse("`components = 0`: there is at least one", "leave it out to have them found");
  if (!o.devices.empty() && (o.backend == "cpu" || o.backend == "reference"))
    refuse(fmt::format("`devices` are those of GPUs, and `backend = {}` has none", o.backend),
           "use the cuda back-end, or leave `devices` out");
  if (std::any_of(o.devices.begin(), o.devices.end(), [](int device) { return device < 0; }))
    refuse("`devices` holds a number below zero", "devices are counted from 0");
  if (o.comm != nullptr && o.ranks > 1)
    refuse(fmt::format("`ranks = {}` are threads of one process, and this is one of several", o.ranks),
           "leave `ranks` out: processes are the ranks");
  if (std::set<int>(o.devices.begin(), o.devices.end()).size() < o.devices.size())
    refuse("`devices` names one twice", "name each once");
  if (o.devices.size() > 1 && o.ranks > 1) refuse("`devices` and `ranks` both say who shares the rows", "give one of them");
  constexpr int most_ranks = 1024;
  if (o.ranks < 1 || o.ranks > most_ranks)
    refuse(fmt::format("`ranks = {}` is outside [1, {}]", o.ranks, most_ranks), "1, no ranks at all, is the default");
  if (o.rows_a_rank < 1) refuse("`rows_a_rank = 0`: a rank with rows has at least one", "2048 is the default");
  if (!(o.link_bytes_per_second > 0))
    refuse(fmt::format("`link_bytes_per_second = {}` is not a positive number", o.link_bytes_per_second), "1.25e9 is 10 Gbit/s");
  if (o.threads < 0 || o.threads > Team::most_threads)
    refuse(fmt::format("`threads = {}` is outside [0, {}]", o.threads, Team::most_threads), "0 takes all cores");
}

// Against each other.
void check_together(const Options& o) {
  if (o.components && *o.components > o.modes)
    refuse(fmt::format("`components = {}` needs as many modes, and `modes = {}`", *o.components, o.modes),
           fmt::format("the gap past {0} components is that of mode {0}: ask for more modes, for fewer components, or leave "
                       "`components` out to have them found",
                       *o.components));
  if (o.beta0 && o.beta_max && *o.beta0 > *o.beta_max)
    refuse(fmt::format("`beta0 = {}` is above `beta_max = {}`", *o.beta0, *o.beta_max), "start below the largest bandwidth");
}

void check_rows(const Options& o, std::size_t rows) {
  const std::size_t kept = rows - trimmed_rows(o.trim, rows);
  const std::string left = kept < rows ? fmt::format(" that `trim = {}` leaves", *o.trim) : "";
  if (kept < 3)
    throw Error(Failure::input, fmt::format("{}{} {} too few", counted(kept, "point"), left, one_or_many(kept, "is", "are")),
                "a diffusion map needs at least 3");
  if (o.modes >= kept)
    refuse(fmt::format("{} modes were asked for, but {} points{} have at most {} nontrivial ones", o.modes, kept, left, kept - 1),
           "ask for fewer modes");
  if (o.block > kept)
    refuse(fmt::format("`block = {}` vectors a pass are more than the {} points{}", o.block, kept, left),
           "leave it out to have it chosen");
}

}  // namespace

std::size_t trimmed_rows(const std::optional<double>& trim, std::size_t rows) {
  return static_cast<std::size_t>(trim.value_or(0) * static_cast<double>(rows));
}

std::vector<std::string> taken_otherwise(const Options& o, std::size_t rows) {
  const std::size_t kept = rows - trimmed_rows(o.trim, rows);
  const SolverPlan plan = plan_solver(o.modes, kept, sizeof(float), o.block, o.basis);
  std::vector<std::string> lines;
  if (o.block > 0 && plan.block > o.block)
    lines.push_back(
        fmt::format("`block = {}` is taken as {}: narrower blocks can miss repeated eigenvalues", o.block, plan.block));
  if (o.basis > 0 && plan.basis > o.basis && o.basis < kept)
    lines.push_back(fmt::format("`basis = {}` is too small for {} and blocks of {}: at least {} vectors are kept", o.basis,
                                counted(o.modes, "mode"), plan.block, std::min(plan.basis, kept)));
  if (o.basis > kept) lines.push_back(fmt::format("`basis = {}` is taken as {}: there are no more points", o.basis, kept));
  return lines;
}

void check_options(const Options& options) {
  check_values(options);
  check_together(options);
}

Options checked_options(const Options& wishes, std::size_t rows) {
  check_options(wishes);
  Options options = wishes;
  const std::size_t kept = rows - trimmed_rows(options.trim, rows);
  if (options.modes == Options().modes && kept >= 3 && options.modes >= kept) options.modes = kept - 1;
  check_together(options);  // with the number of modes that is left
  check_rows(options, rows);
  return options;
}

}  // namespace fd
