// The model file: what is where in it, written and read. One function a direction; the two read like one table.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/model.hpp>

#include "io/atomic_file.hpp"
#include "io/child_process.hpp"
#include "io/file_seal.hpp"
#include "io/hdf5_reader.hpp"
#include "io/hdf5_writer.hpp"
#include "io/model_check.hpp"

namespace fd {
namespace {

constexpr const char* format_name = "flashdiffusion-model";
constexpr std::int64_t format_version = 1;

struct RealColumn {
  const char* name;
  double Probe::*member;
};
constexpr RealColumn real_columns[] = {
    {"beta", &Probe::beta},     {"s_off", &Probe::s_off},     {"s_off_2beta", &Probe::s_off_2beta},
    {"n_eff", &Probe::n_eff},   {"d_hat", &Probe::d_hat},     {"perron_gap", &Probe::perron_gap},
    {"v_bias", &Probe::v_bias}, {"v_stat", &Probe::v_stat},   {"v_mach", &Probe::v_mach},
    {"v", &Probe::v},           {"seconds", &Probe::seconds},
};
struct CountColumn {
  const char* name;
  std::size_t Probe::*member;
};
constexpr CountColumn count_columns[] = {
    {"n", &Probe::n}, {"localised", &Probe::localised}, {"aside", &Probe::aside}, {"passes", &Probe::passes}};

std::int64_t signed_count(std::uint64_t count) { return static_cast<std::int64_t>(count); }

void write_table_to(Hdf5Writer& out, const std::string& path, const Table& table) {
  table.visit([&](const auto& values) { out.array(path, {table.rows(), table.columns()}, values.data()); });
}

void write_sweep(Hdf5Writer& out, const std::vector<Probe>& sweep) {
  const std::size_t probes = sweep.size();
  out.group("/sweep");
  for (const auto& column : count_columns) {
    std::vector<std::int64_t> values;
    values.reserve(probes);
    for (const Probe& probe : sweep) values.push_back(signed_count(probe.*column.member));
    out.array(std::string("/sweep/") + column.name, {probes}, values.data());
  }
  for (const auto& column : real_columns) {
    std::vector<double> values;
    values.reserve(probes);
    for (const Probe& probe : sweep) values.push_back(probe.*column.member);
    out.array(std::string("/sweep/") + column.name, {probes}, values.data());
  }
  std::vector<std::string> precisions, outcomes;
  std::size_t most = 0;
  for (const Probe& probe : sweep) {
    precisions.emplace_back(traits(probe.precision).name);
    outcomes.push_back(probe.outcome);
    most = std::max(most, probe.eigenvalues.size());
  }
  out.text("/sweep/precision", precisions);
  out.text("/sweep/outcome", outcomes);
  std::vector<double> eigenvalues(probes * most, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < probes; ++i)
    std::copy(sweep[i].eigenvalues.begin(), sweep[i].eigenvalues.end(),
              eigenvalues.begin() + static_cast<std::ptrdiff_t>(i * most));
  out.array("/sweep/eigenvalues", {probes, most}, eigenvalues.data());
}

// Every column is as long as the first, and known to be so before any is read.
std::vector<Probe> read_sweep(const Hdf5Reader& in) {
  const auto at = [](const char* name) { return std::string("/sweep/") + name; };
  const auto probes = in.shape(at("precision")), solved = in.shape(at("eigenvalues"));
  if (probes.size() != 1) in.damaged("/sweep/precision is not a column");
  in.expect_shape(at("outcome"), probes);
  for (const auto& column : count_columns) in.expect_shape(at(column.name), probes);
  for (const auto& column : real_columns) in.expect_shape(at(column.name), probes);
  if (solved.size() != 2 || solved[0] != probes[0]) in.damaged("/sweep/eigenvalues has no row a probe");

  const auto precisions = in.texts(at("precision"));
  const auto outcomes = in.texts(at("outcome"));
  std::vector<Probe> sweep(precisions.size());
  for (const auto& column : count_columns) {
    const auto values = in.integers(at(column.name));
    for (std::size_t i = 0; i < sweep.size(); ++i) {
      if (values[i] < 0) in.damaged(fmt::format("{} holds {}", at(column.name), values[i]));
      sweep[i].*column.member = static_cast<std::size_t>(values[i]);
    }
  }
  for (const auto& column : real_columns) {
    const auto values = in.reals(at(column.name));
    for (std::size_t i = 0; i < sweep.size(); ++i) sweep[i].*column.member = values[i];
  }
  const Table eigenvalues = in.table(at("eigenvalues"));
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    sweep[i].precision = precision_from_name(precisions[i]);
    sweep[i].outcome = outcomes[i];
    for (std::size_t j = 0; j < eigenvalues.columns(); ++j) sweep[i].eigenvalues.push_back(eigenvalues(i, j));
    while (!sweep[i].eigenvalues.empty() && std::isnan(sweep[i].eigenvalues.back())) sweep[i].eigenvalues.pop_back();
  }
  return sweep;
}

std::uint64_t checksum_from(const Hdf5Reader& in, const std::string& digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  if (const auto [rest, code] = std::from_chars(digits.data(), end, value, 16); code != std::errc() || rest != end)
    in.damaged("attribute points_checksum");
  return value;
}

void check_format(const Hdf5Reader& in, const std::string& path) {
  if (!in.has_attribute("/", "format") || !in.has_attribute("/", "format_version") ||
      in.text_attribute("/", "format") != format_name)
    throw Error(Failure::input, fmt::format("{} is not a flashdiffusion model", path), "name a file that fit wrote");
  const std::int64_t found = in.integer_attribute("/", "format_version");
  if (found > format_version)
    throw Error(
        Failure::input,
        fmt::format("{} was written by a newer flashdiffusion (format {}; this one reads up to {})", path, found, format_version),
        "update flashdiffusion, or repeat the fit with this version");
  if (found < 1)
    throw Error(Failure::input, fmt::format("{} has format version {}, which never was", path, found), "repeat the fit");
}

// Shapes are held against the attributes before any large array is read.
void expect_shapes(const Hdf5Reader& in, std::size_t n, std::size_t dimension, std::size_t modes) {
  for (const char* name : {"/eigenvalues", "/residuals"}) in.expect_shape(name, {modes});
  for (const char* name : {"/q", "/d"}) in.expect_shape(name, {n});
  in.expect_shape("/mean", {dimension});
  in.expect_shape("/psi", {n, modes});
  if (in.has("/points")) in.expect_shape("/points", {n, dimension});
  if (in.has("/names")) in.expect_shape("/names", {n});
  if (in.has("/aside")) {
    const auto aside = in.shape("/aside");
    if (aside.size() != 1 || aside[0] > n) in.damaged("/aside names more rows than there are");
  }
}

Model read_model(const std::string& path, Seal seal, bool with_arrays) {
  const Hdf5Reader in(path);
  // An edit leaves no byte behind HDF5's own end; what stands there is the seal, whole or no longer so.
  if (seal == Seal::none && in.bytes_past_end() > 0) in.damaged("its seal, the last line, is not whole");
  check_format(in, path);
  const auto count = [&](const char* name) {
    const std::int64_t value = in.integer_attribute("/", name);
    if (value < 0)
      throw Error(Failure::input, fmt::format("{} is damaged: attribute {} is {}", path, name, value), "repeat the fit");
    return static_cast<std::size_t>(value);
  };
  Model model;
  model.kernel = in.text_attribute("/", "kernel");
  model.beta = in.real_attribute("/", "beta");
  model.alpha = in.real_attribute("/", "alpha");
  model.n = count("n");
  model.dimension = count("dimension");
  expect_shapes(in, model.n, model.dimension, count("modes"));
  model.precision = precision_from_name(in.text_attribute("/", "precision"));
  model.converged = in.integer_attribute("/", "converged") != 0;
  model.outcome = in.text_attribute("/", "outcome");
  model.perron = in.real_attribute("/", "perron");
  model.perron_residual = in.real_attribute("/", "perron_residual");
  model.beta_exponent = in.real_attribute("/", "beta_exponent");
  model.beta_exponent_error = in.real_attribute("/", "beta_exponent_error");
  model.passes = count("passes");
  model.full_passes = count("full_passes");
  model.columns = count("columns");
  model.eigenvalues = in.reals("/eigenvalues");
  model.residuals = in.reals("/residuals");
  model.mean = in.reals("/mean");
  if (in.has_attribute("/", "points_checksum"))
    model.points_checksum = checksum_from(in, in.text_attribute("/", "points_checksum"));
  if (in.has("/aside"))
    for (const std::int64_t row : in.integers("/aside")) {
      if (row < 0 || static_cast<std::size_t>(row) >= model.n) in.damaged("/aside names a row that is not there");
      if (!model.aside.empty() && static_cast<std::size_t>(row) <= model.aside.back()) in.damaged("/aside does not ascend");
      model.aside.push_back(static_cast<std::size_t>(row));
    }
  model.sweep = read_sweep(in);
  const auto provenance = in.texts("/provenance");
  if (!provenance.empty()) model.provenance = provenance[0];
  model.seconds = in.real_attribute("/provenance", "seconds");
  model.peak_rss_bytes = static_cast<std::uint64_t>(in.integer_attribute("/provenance", "peak_rss_bytes"));
  if (in.has_attribute("/provenance", "forecast_seconds") && in.has_attribute("/provenance", "forecast_passes")) {
    model.forecast_seconds = in.real_attribute("/provenance", "forecast_seconds");
    model.forecast_passes =
        static_cast<std::size_t>(std::max<std::int64_t>(0, in.integer_attribute("/provenance", "forecast_passes")));
  }
  if (in.has_attribute("/provenance", "least_seconds")) model.least_seconds = in.real_attribute("/provenance", "least_seconds");
  if (with_arrays) {
    model.q = in.reals("/q");
    model.d = in.reals("/d");
    model.psi = in.table("/psi");
    if (in.has("/points")) model.points = in.table("/points");
    if (in.has("/names")) model.names = in.texts("/names");
  }
  std::string wrong = wrong_setting(model);
  if (wrong.empty() && with_arrays) wrong = wrong_entry(model);
  if (!wrong.empty()) in.damaged(wrong);
  return model;
}

// Errors that know nothing of files get the name of this one.
Model read_named_model(const std::string& path, Seal seal, bool with_arrays) {
  try {
    return read_model(path, seal, with_arrays);
  } catch (const std::bad_alloc&) {
    throw Error(Failure::memory, fmt::format("not enough memory to load {}", path),
                "close other programs, or use a machine with more memory");
  } catch (const std::length_error&) {
    throw Error(Failure::input, fmt::format("{} is damaged: it claims more numbers than any memory holds", path),
                "repeat the fit");
  } catch (const Error& error) {
    if (error.kind() != Failure::misuse) throw;
    throw Error(Failure::input, fmt::format("{}: {}", path, error.what()),
                "the file is damaged or comes from a newer flashdiffusion");
  }
}

}  // namespace

void save_model(const Model& model, const std::string& path) {
  std::string wrong = wrong_shape(model);
  if (wrong.empty()) wrong = wrong_setting(model);
  if (!wrong.empty()) throw Error(Failure::misuse, "the model cannot be saved: " + wrong);
  AtomicFile file(path);
  const auto size_of = [](const Table& table) { return std::uint64_t{table.rows()} * table.columns() * (table.wide() ? 8 : 4); };
  const std::uint64_t bytes = size_of(model.psi) + size_of(model.points) +
                              8 * (model.q.size() + model.d.size() + model.mean.size()) + model.provenance.size() +
                              model.sweep.size() * (256 + 8 * model.modes());
  Hdf5Writer out(file.temporary(), path, bytes);
  out.attribute("/", "format", std::string(format_name));
  out.attribute("/", "format_version", format_version);
  out.attribute("/", "kernel", model.kernel);
  out.attribute("/", "beta", model.beta);
  out.attribute("/", "alpha", model.alpha);
  out.attribute("/", "n", signed_count(model.n));
  out.attribute("/", "dimension", signed_count(model.dimension));
  out.attribute("/", "modes", signed_count(model.modes()));
  out.attribute("/", "precision", std::string(traits(model.precision).name));
  out.attribute("/", "converged", model.converged);
  out.attribute("/", "outcome", model.outcome);
  out.attribute("/", "perron", model.perron);
  out.attribute("/", "perron_residual", model.perron_residual);
  out.attribute("/", "beta_exponent", model.beta_exponent);
  out.attribute("/", "beta_exponent_error", model.beta_exponent_error);
  out.attribute("/", "passes", signed_count(model.passes));
  out.attribute("/", "full_passes", signed_count(model.full_passes));
  out.attribute("/", "columns", signed_count(model.columns));
  if (model.points_checksum != 0) out.attribute("/", "points_checksum", fmt::format("{:016x}", model.points_checksum));
  out.array("/eigenvalues", {model.modes()}, model.eigenvalues.data());
  out.array("/residuals", {model.modes()}, model.residuals.data());
  write_table_to(out, "/psi", model.psi);
  out.array("/q", {model.q.size()}, model.q.data());
  out.array("/d", {model.d.size()}, model.d.data());
  if (!model.points.empty()) write_table_to(out, "/points", model.points);
  out.array("/mean", {model.mean.size()}, model.mean.data());
  if (!model.names.empty()) out.text("/names", model.names);
  if (!model.aside.empty()) {
    const std::vector<std::int64_t> rows(model.aside.begin(), model.aside.end());
    out.array("/aside", {rows.size()}, rows.data());
  }
  write_sweep(out, model.sweep);
  // What the clock decides stands last and by itself: two fits of the same points differ here and in /sweep/seconds only.
  out.text("/provenance", model.provenance);
  out.attribute("/provenance", "seconds", model.seconds);
  out.attribute("/provenance", "peak_rss_bytes", signed_count(model.peak_rss_bytes));
  if (std::isfinite(model.forecast_seconds)) {
    out.attribute("/provenance", "forecast_seconds", model.forecast_seconds);
    out.attribute("/provenance", "forecast_passes", signed_count(model.forecast_passes));
  }
  if (std::isfinite(model.least_seconds)) out.attribute("/provenance", "least_seconds", model.least_seconds);
  out.close();
  seal_file(file.temporary(), path);
  file.commit();
}

Model load_model(const std::string& path, bool with_arrays) {
  const Seal seal = examine_seal(path);
  if (seal == Seal::broken)
    throw Error(Failure::input, fmt::format("{} is damaged: its checksum is wrong", path),
                "copy it again from where it was whole, or repeat the fit");
  // A forged or edited file may still crash HDF5: let that happen to a child.
  if (ChildProcess::possible()) {
    ChildProcess rehearsal(path, [&](const Channel& channel) {
      read_named_model(path, seal, with_arrays);
      announce_answer(channel);
    });
    rehearsal.ask(await_answer);
  }
  return read_named_model(path, seal, with_arrays);
}

}  // namespace fd
