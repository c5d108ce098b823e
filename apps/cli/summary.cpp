#include "cli/summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <flashdiffusion/report.hpp>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "common/console.hpp"
#include "common/flag_names.hpp"

namespace fd::cli {
namespace {

std::string precision_name(Precision precision) { return std::string(traits(precision).name); }

std::string bandwidth_text(const Model& model, const std::string& origin) {
  std::string text = fmt::format("{:.6g}", model.beta);
  if (!origin.empty()) return text + fmt::format("  ({})", origin);
  if (model.sweep.size() > 1) text += fmt::format("  (chosen by the flow, {} probes)", model.sweep.size());
  return text;
}

// Singer's rule for the bandwidth of least error has an exponent between 2 / (d + 6) and 2 / (d + 4).
std::string exponent_text(const Model& model) {
  std::string text = fmt::format("beta ~ n^{:.3f}", model.beta_exponent);
  if (std::isfinite(model.beta_exponent_error)) text += fmt::format(" +- {:.3f}", model.beta_exponent_error);
  text += " over the samples";
  const double d = model.sweep.empty() ? 0 : model.sweep.back().d_hat;
  if (d > 0) text += fmt::format("; Singer's rule for d = {:.1f}: {:.3f} to {:.3f}", d, 2 / (d + 6), 2 / (d + 4));
  return text;
}

// Sentences, which semicolons separate, a line each.
std::string sentences_text(const std::string& label, const std::string& sentences) {
  std::string text;
  for (std::size_t at = 0; at < sentences.size();) {
    const std::size_t end = std::min(sentences.find("; ", at), sentences.size());
    text += row_text(at == 0 ? label : "", sentences.substr(at, end - at));
    at = end + 2;
  }
  return text;
}

std::string sweep_text(const Model& model) {
  const bool aside = std::any_of(model.sweep.begin(), model.sweep.end(), [](const Probe& p) { return p.aside > 0; });
  const auto only_aside = [&](const auto& value) { return aside ? fmt::format("{:>6}  ", value) : std::string(); };
  std::string text = fmt::format("\n{:>9}  {}{:>5}  {:>11}  {:>9}  {:>7}  {:>10}  {:>10}  {:>6}  {}\n", "n", only_aside("aside"),
                                 "prec", "beta", "n_eff", "d_hat", "gap", "V", "passes", "outcome");
  for (const Probe& p : model.sweep)
    if (p.outcome == "sparse")  // nothing else is known of it
      text += fmt::format("{:>9}  {}{:>5}  {:>11.5g}  {:>9}  {:>7}  {:>10}  {:>10}  {:>6}  {}\n", p.n, only_aside(p.aside),
                          precision_name(p.precision), p.beta, "-", "-", "-", "-", p.passes, p.outcome);
    else
      text += fmt::format("{:>9}  {}{:>5}  {:>11.5g}  {:>9.4g}  {:>7.3g}  {:>10.3e}  {:>10.4e}  {:>6}  {}\n", p.n,
                          only_aside(p.aside), precision_name(p.precision), p.beta, p.n_eff, p.d_hat, p.perron_gap, p.v, p.passes,
                          p.outcome);
  return text;
}

nlohmann::ordered_json sweep_json(const Model& model) {
  const auto column = [&](auto value) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const Probe& probe : model.sweep) values.push_back(value(probe));
    return values;
  };
  return {{"n", column([](const Probe& p) { return p.n; })},
          {"precision", column([](const Probe& p) { return precision_name(p.precision); })},
          {"beta", column([](const Probe& p) { return p.beta; })},
          {"s_off", column([](const Probe& p) { return p.s_off; })},
          {"s_off_2beta", column([](const Probe& p) { return p.s_off_2beta; })},
          {"n_eff", column([](const Probe& p) { return p.n_eff; })},
          {"d_hat", column([](const Probe& p) { return p.d_hat; })},
          {"perron_gap", column([](const Probe& p) { return p.perron_gap; })},
          {"v_bias", column([](const Probe& p) { return p.v_bias; })},
          {"v_stat", column([](const Probe& p) { return p.v_stat; })},
          {"v_mach", column([](const Probe& p) { return p.v_mach; })},
          {"v", column([](const Probe& p) { return p.v; })},
          {"localised", column([](const Probe& p) { return p.localised; })},
          {"aside", column([](const Probe& p) { return p.aside; })},
          {"passes", column([](const Probe& p) { return p.passes; })},
          {"seconds", column([](const Probe& p) { return p.seconds; })},
          {"outcome", column([](const Probe& p) { return p.outcome; })}};
}

}  // namespace

std::string row_text(const std::string& label, const std::string& value) {
  return fmt::format("{:<16}{}\n", label, printable(value));
}

std::string summary_text(const Model& model, const std::string& origin) {
  const double largest = model.residuals.empty() ? 0 : *std::max_element(model.residuals.begin(), model.residuals.end());
  std::string text;
  text += row_text("points", counted(model.n, "row") + ", " + counted(model.dimension, "column"));
  text += row_text("beta", bandwidth_text(model, origin));
  if (std::isfinite(model.beta_exponent)) text += row_text("", exponent_text(model));
  text += row_text("alpha", fmt::format("{:g}", model.alpha));
  text += row_text("precision", precision_name(model.precision));
  text += row_text("modes", fmt::format("{}, {}", model.modes(),
                                        model.converged ? "all converged" : "not what was asked for (see the outcome)"));
  text += sentences_text("outcome", with_flags(model.outcome));
  text += row_text("residual", fmt::format("{:.2e} at most; {:.2e} of the trivial mode", largest, model.perron_residual));
  text += row_text("passes", fmt::format("{} over the kernel, {} of them over all rows, {} columns", model.passes,
                                         model.full_passes, model.columns));
  text += row_text("time", duration_text(model.seconds));
  text += row_text("peak memory", bytes_text(static_cast<double>(model.peak_rss_bytes)));
  text += fmt::format("\n{:>5}  {:<14}  {}\n", "mode", "eigenvalue", "residual");
  for (std::size_t i = 0; i < model.modes(); ++i)
    text += fmt::format("{:>5}  {:<14.10f}  {:.2e}\n", i + 1, model.eigenvalues[i],
                        i < model.residuals.size() ? model.residuals[i] : 0.0);
  if (model.sweep.size() > 1) text += sweep_text(model);
  return text;
}

nlohmann::ordered_json summary_json(const Model& model) {
  nlohmann::ordered_json provenance = nlohmann::ordered_json::parse(model.provenance, nullptr, false);
  if (provenance.is_discarded()) provenance = model.provenance;
  nlohmann::ordered_json checksum;  // null where it is not known
  if (model.points_checksum != 0) checksum = fmt::format("{:016x}", model.points_checksum);
  return {{"format", "flashdiffusion-model"},
          {"format_version", 1},
          {"kernel", model.kernel},
          {"beta", model.beta},
          {"alpha", model.alpha},
          {"n", model.n},
          {"dimension", model.dimension},
          {"points_checksum", checksum},
          {"modes", model.modes()},
          {"precision", precision_name(model.precision)},
          {"converged", model.converged},
          {"outcome", with_flags(model.outcome)},
          {"perron", model.perron},
          {"perron_residual", model.perron_residual},
          {"aside", model.aside},
          {"eigenvalues", model.eigenvalues},
          {"residuals", model.residuals},
          {"sweep", sweep_json(model)},
          {"beta_exponent", model.beta_exponent},
          {"beta_exponent_error", model.beta_exponent_error},
          {"passes", model.passes},
          {"full_passes", model.full_passes},
          {"columns", model.columns},
          {"seconds", model.seconds},
          {"forecast_seconds", model.forecast_seconds},
          {"forecast_passes", model.forecast_passes},
          {"least_seconds", model.least_seconds},
          {"peak_rss_bytes", model.peak_rss_bytes},
          {"provenance", provenance}};
}

nlohmann::ordered_json remarks_json(const Model& model) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Remark& remark : remarks(model))
    list.push_back({{"name", remark.name},
                    {"weight", name(remark.weight)},
                    {"sentence", with_flags(remark.sentence)},
                    {"action", remark.action}});
  return list;
}

}  // namespace fd::cli
