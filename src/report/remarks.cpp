// Remarks on a model, in the order of their weight. Each has a name that stays, a sentence, and a thing to do.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/components.hpp"
#include "base/counted.hpp"
#include "report/findings.hpp"

namespace fd {
namespace {

using Remarks = std::vector<Remark>;

void remark_convergence(const Model& model, Remarks& out) {
  if (model.converged) return;
  out.push_back(
      {"not-converged", Weight::serious, model.outcome.empty() ? "Not all modes are what was asked for." : model.outcome + ".",
       "Use only modes whose residual is below the tolerance; else follow the advice in the sentence, or raise --max-passes."});
}

void remark_pieces(const Model& model, Remarks& out) {
  const std::size_t near = next_to_one(model.eigenvalues);
  if (near == 0) return;
  const double distance = std::max(0.0, 1 - model.eigenvalues[near - 1]);
  out.push_back({"separate-pieces", Weight::care,
                 fmt::format("{} {}: the rows fall into about {} pieces that hardly exchange anything, and {} which "
                             "piece a row is in.",
                             near == 1 ? "One eigenvalue is" : fmt::format("{} eigenvalues are", near),
                             distance > 0 ? fmt::format("next to 1, within {:.2g}", distance) : std::string("1 but for rounding"),
                             near + 1, near == 1 ? "that mode only tells" : "those modes only tell"),
                 fmt::format("{}, fit the pieces one by one, or use a smaller --beta if they ought to be connected.",
                             near < model.modes() ? fmt::format("Look at {} {}", near + 1 < model.modes() ? "modes" : "mode",
                                                                near + 1 < model.modes() ? fmt::format("{} and on", near + 1)
                                                                                         : fmt::format("{}", near + 1))
                                                  : std::string("Ask for more modes (-k) to see what is inside them"))});
}

void remark_support(const Model& model, const Findings& found, Remarks& out) {
  std::vector<std::size_t> modes;
  for (std::size_t j = 0; j < found.supports.size(); ++j)
    if (localised(model, found.supports[j])) modes.push_back(j);
  if (modes.empty()) return;
  out.push_back({"localised-modes", Weight::care,
                 fmt::format("{} {} on fewer than {:.2g} rows: {} a few points rather than the shape of the data.",
                             modes_text(modes), modes.size() == 1 ? "lives" : "live", localised_below(model.n),
                             modes.size() == 1 ? "it describes" : "they describe"),
                 "See the table of localised modes: are these rows outliers? Leave them out (--trim), or use a smaller --beta."});
}

void remark_aside(const Model& model, Remarks& out) {
  if (model.aside.empty()) return;
  out.push_back(
      {"rows-aside", Weight::note,
       fmt::format("{} of {} rows took no part in the fit and {} placed by extension afterwards: the others do not resolve them.",
                   model.aside.size(), model.n, model.aside.size() == 1 ? "was" : "were"),
       "See the table of rows set aside. --trim 0 keeps all rows in the fit, mostly at the price of a coarser bandwidth."});
}

void remark_neighbours(const Model& model, const Findings& found, Remarks& out) {
  constexpr double few = 5, most = 0.5;
  const bool narrow = found.n_eff<few, broad = found.n_eff> most * static_cast<double>(model.n);
  if (narrow && broad)  // of so few points both are true at once, and no bandwidth mends it
    out.push_back({"few-points", Weight::care,
                   fmt::format("{} are too few for a map: about {:.2g} effective neighbours are most of all others, and still "
                               "few.",
                               counted(model.n, "point"), found.n_eff),
                   "Add points: no bandwidth makes up for them."});
  else if (narrow)
    out.push_back(
        {"few-neighbours", Weight::care,
         fmt::format("A point has only about {:.2g} effective neighbours: fine modes follow the accidents of the sample.",
                     found.n_eff),
         "Trust the slow modes only, use a smaller --beta, or add points."});
  else if (broad)
    out.push_back({"broad-kernel", Weight::care,
                   fmt::format("A point sees {:.0f} % of all others as neighbours: the map is close to a linear one.",
                               100 * found.n_eff / static_cast<double>(model.n)),
                   "Use a larger --beta to see finer structure."});
}

void remark_pairs(const Model& model, const Findings& found, Remarks& out) {
  std::vector<std::string> pairs;
  for (std::size_t j = 0; j + 1 < model.modes(); ++j) {
    const double apart = model.eigenvalues[j] - model.eigenvalues[j + 1];
    const double blur = model.residuals.size() == model.modes() ? std::max(model.residuals[j], model.residuals[j + 1]) : 0;
    if (apart <= std::max(10 * blur, 1e-3 * (1 - model.eigenvalues[j + 1])) &&
        model.eigenvalues[j] > std::max(10 * blur, found.tolerance))
      pairs.push_back(fmt::format("{} and {}", j + 1, j + 2));
  }
  if (pairs.empty()) return;
  const std::size_t shown = std::min<std::size_t>(pairs.size(), 6);
  out.push_back({"close-eigenvalues", Weight::note,
                 fmt::format("Modes {}{} have nearly the same eigenvalue: the plane they span is determined, the two directions "
                             "in it are a choice.",
                             fmt::join(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                             shown < pairs.size() ? ", …" : ""),
                 "Use such modes together, and do not compare them one by one between fits."});
}

void remark_wall(const Model& model, Remarks& out) {
  double wall = 0;
  for (const Probe& probe : model.sweep)
    if (probe.outcome == "wall" && probe.n == model.n && probe.beta > model.beta && (wall == 0 || probe.beta < wall))
      wall = probe.beta;
  if (wall == 0 || wall > 4 * model.beta) return;
  out.push_back({"wall", Weight::note,
                 fmt::format("Just above, at β = {:.4g}, the spectral gap is lost in {} arithmetic: the rows fall apart there.",
                             wall, traits(model.precision).name),
                 "If you need a finer bandwidth, try --precision fp64, or see whether a few sparse rows cause it (--trim)."});
}

}  // namespace

std::string modes_text(const std::vector<std::size_t>& modes) {
  const std::size_t shown = std::min<std::size_t>(modes.size(), 8);
  std::string text = one_or_many(modes.size(), "mode", "modes");
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}{}", i == 0 ? " " : ", ", modes[i] + 1);
  return shown < modes.size() ? text + ", …" : text;
}

std::vector<Remark> remarks_on(const Model& model, const Findings& found) {
  Remarks out;
  remark_convergence(model, out);
  remark_pieces(model, out);
  remark_support(model, found, out);
  remark_neighbours(model, found, out);
  remark_aside(model, out);
  remark_pairs(model, found, out);
  remark_wall(model, out);
  if (model.points.empty())
    out.push_back({"no-points", Weight::note,
                   "The model was made without its points: what a neighbour graph would keep cannot be measured.",
                   "Fit without --no-points to have it measured."});
  std::stable_sort(out.begin(), out.end(), [](const Remark& a, const Remark& b) { return a.weight < b.weight; });
  return out;
}

}  // namespace fd
