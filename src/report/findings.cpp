#include "report/findings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/sampled_support.hpp"
#include "base/counted.hpp"
#include "base/worst.hpp"

namespace fd {
namespace {

double tolerance_of(const Model& model) {
  const auto document = nlohmann::json::parse(model.provenance, nullptr, false);
  for (const char* place : {"/options/tolerance", "/parameters/tolerance"}) {  // of the program, of the Python package
    const nlohmann::json::json_pointer pointer(place);
    if (!document.is_discarded() && document.contains(pointer) && document[pointer].is_number())
      return document[pointer].get<double>();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string grouped_count(std::size_t number, const std::string& noun) {
  return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

// About three figures and no exponent: 1,210 of 1209.6.
std::string rounded(double number) {
  if (number < 999.5) return fmt::format("{:.3g}", number);
  const double unit = std::pow(10, std::floor(std::log10(number)) - 2);
  return grouped(static_cast<std::size_t>(std::llround(number / unit) * std::llround(unit)));
}

// Eigenvalues nearer to 1 than this are 1 as far as the arithmetic can tell.
double uncertainty_of_one(const Model& model) { return 10 * traits(model.precision).eta; }

// Past it a mode may be missing. Where the tolerance is not known the model's own word counts for all.
std::size_t first_unconverged(const Model& model, double tolerance) {
  if (model.residuals.size() != model.modes()) return model.modes();
  const auto reached = [&](double residual) { return std::isnan(tolerance) ? !std::isnan(residual) : residual <= tolerance; };
  const auto first = std::find_if_not(model.residuals.begin(), model.residuals.end(), reached);
  return static_cast<std::size_t>(first - model.residuals.begin());
}

// Modes of which the number to keep says nothing, and why.
std::string not_counted(const Model& model, const Findings& found) {
  const std::size_t known = first_unconverged(model, found.tolerance);
  std::vector<std::size_t> few;
  for (std::size_t j = 0; j < known; ++j)
    if (localised(model, found.supports[j])) few.push_back(j);
  std::string text;
  if (!few.empty())
    text += fmt::format(" {} on a few rows and {} not counted.",
                        "M" + modes_text(few).substr(1) + one_or_many(few.size(), " lives", " live"),
                        one_or_many(few.size(), "is", "are"));
  if (known < model.modes())
    text +=
        fmt::format(" Mode {} did not reach the tolerance: from there on modes may be missing, and none is counted.", known + 1);
  return text;
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * (share < 1 ? std::min(share, 0.999) : share)); }

const char* name(Weight weight) {
  switch (weight) {
    case Weight::serious: return "serious";
    case Weight::care: return "care";
    case Weight::note: break;
  }
  return "note";
}

Findings find_quickly(const Model& model) {
  Findings found;
  found.chosen = model.sweep.size() > 1;
  for (const Probe& probe : model.sweep)  // the last one at the accepted bandwidth
    if (probe.beta == model.beta) {
      found.n_eff = probe.n_eff;
      found.d_hat = probe.d_hat;
    }
  for (const double residual : model.residuals) found.largest_residual = worse(found.largest_residual, residual);
  found.tolerance = tolerance_of(model);
  found.supports = mode_supports(model);
  std::vector<double> values;
  for (std::size_t j = 0; j < first_unconverged(model, found.tolerance); ++j)
    if (!localised(model, found.supports[j])) found.counted.push_back(j), values.push_back(model.eigenvalues[j]);
  found.keep = modes_to_keep(values, uncertainty_of_one(model));
  return found;
}

Findings find(const Model& model) {
  Findings found = find_quickly(model);
  std::vector<std::size_t> fitted;
  for (std::size_t i = 0; i < model.d.size(); ++i)
    if (model.d[i] > 0) fitted.push_back(i);
  found.retained = sampled_support(model.points, fitted, model.beta, {15, 64, 1024});
  return found;
}

bool localised(const Model& model, const ModeSupport& support) { return support.rows < localised_below(model.n); }

std::string answer(const Model& model, const Findings& found, const std::vector<Remark>& remarks) {
  const auto of_weight = [&](Weight weight) {
    return static_cast<std::size_t>(
        std::count_if(remarks.begin(), remarks.end(), [&](const Remark& r) { return r.weight == weight; }));
  };
  std::string text =
      fmt::format("{} of {} columns have a diffusion map of {} at β = {:.4g}, {}", grouped_count(model.n, "point"),
                  grouped(model.dimension), grouped_count(model.modes(), "mode"), model.beta,
                  found.chosen ? fmt::format("which the flow chose from {}", grouped_count(model.sweep.size(), "probe"))
                               : std::string("which was given"));
  if (std::isfinite(found.n_eff)) text += fmt::format("; a point has about {} effective neighbours", rounded(found.n_eff));
  if (std::isfinite(found.d_hat)) text += fmt::format(", the dimension at this scale is about {:.1f}", found.d_hat);
  text += model.converged ? fmt::format("; all modes converged (largest residual {:.1e})", found.largest_residual)
                          : std::string("; the numbers are not what was asked for");
  if (found.keep.clear)
    text +=
        fmt::format(", and {} out", found.keep.modes == 1 ? "1 mode stands" : fmt::format("{} modes stand", found.keep.modes));
  text += ". ";
  if (const std::size_t serious = of_weight(Weight::serious); serious > 0)
    return text + fmt::format("Read the {} below before you use it.", serious == 1 ? "serious remark" : "serious remarks");
  if (const std::size_t care = of_weight(Weight::care); care > 0)
    return text + fmt::format("Usable with care: see the {} below.", care == 1 ? "remark" : "remarks");
  return text + "Nothing speaks against using it.";
}

std::string reason_to_keep(const Model& model, const Findings& found) {
  const ModeCount& keep = found.keep;
  const std::string others = not_counted(model, found);
  const std::size_t counted = found.counted.size();
  if (counted == 0) return "No mode can be advised." + others;
  if (counted == 1) return "One mode alone has no gap to be judged by." + others;
  if (!keep.clear)
    return fmt::format(
               "No gap stands out: no time scale −1/log λ is more than 1.5 times the next. Keep all {} modes and let the "
               "diffusion time weigh them, or decide by the held-out error of your task.",
               counted) +
           others;
  const double one = uncertainty_of_one(model);
  const auto scale = [&](std::size_t place) { return time_scale(model.eigenvalues[found.counted[place]], one); };
  const double here = scale(keep.modes - 1), next = scale(keep.modes);
  const std::string scales = std::isinf(here)
                                 ? fmt::format("from beyond what {} resolves to {:.3g}", traits(model.precision).name, next)
                                 : fmt::format("by {:.3g}, from {:.3g} to {:.3g}", keep.fall, here, next);
  const std::vector<std::size_t> kept(found.counted.begin(), found.counted.begin() + static_cast<std::ptrdiff_t>(keep.modes));
  const bool leading = kept.back() + 1 == keep.modes;
  return fmt::format(
             "Keep {}: past {} the time scale −1/log λ falls {} steps of the walk, the largest fall among {} modes. Modes may "
             "repeat a direction at a higher frequency: a map that needs the finer ones wants more.",
             leading ? grouped_count(keep.modes, "mode") : modes_text(kept), keep.modes == 1 ? "it" : "them", scales,
             counted == model.modes() ? fmt::format("the {}", counted) : fmt::format("the {} counted", counted)) +
         others;
}

std::string reading_of_exponent(const Model& model, const Findings& found) {
  if (!std::isfinite(model.beta_exponent))
    return found.chosen ? "Too few sample sizes were searched for an exponent of β."
                        : "The bandwidth was given: nothing was searched.";
  std::string text = fmt::format("Over the rungs β grows as n^{:.3f}", model.beta_exponent);
  if (std::isfinite(model.beta_exponent_error)) text += fmt::format(" ± {:.3f}", model.beta_exponent_error);
  if (!(found.d_hat > 0)) return text + ".";
  const double low = 2 / (found.d_hat + 6), high = 2 / (found.d_hat + 4), margin = 2 * model.beta_exponent_error;
  text += fmt::format("; least error on a smooth manifold of dimension {:.1f} asks for n^{:.3f} to n^{:.3f} (Singer). ",
                      found.d_hat, low, high);
  if (!std::isfinite(margin)) return text + "Two sample sizes alone do not say how certain that is.";
  if (model.beta_exponent + margin < low)
    return text +
           "It grows more slowly: something other than sampling noise, sparse rows or structure at one scale, holds the "
           "bandwidth.";
  if (model.beta_exponent - margin > high)
    return text + "It grows faster: more rows still reveal finer structure, as where dimension falls at small scales.";
  return text + "The data behave like such a manifold.";
}

std::string reading_of_retained_mass(const Findings& found) {
  if (found.retained.rows.empty()) return "The model was made without its points: there is nothing to measure this on.";
  std::string text = "At this β the k nearest neighbours of a row, itself among them, hold on average";
  const auto& masses = found.retained.masses;
  for (std::size_t i = 0; i < masses.size(); ++i)
    text += fmt::format("{} {} (k = {})",
                        i == 0                  ? ""
                        : i + 1 < masses.size() ? ","
                                                : " and",
                        percent(masses[i].share.mean), masses[i].neighbours);
  return text + fmt::format(
                    " of its kernel mass: that is what a graph of k neighbours would keep. Measured on {}; bars are means, lines "
                    "the middle nine tenths.",
                    grouped_count(found.retained.rows.size(), "row"));
}

}  // namespace fd
