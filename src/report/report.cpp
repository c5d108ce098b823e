// Fills the report's page.
#include <flashdiffusion/report.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"
#include "report/document.hpp"
#include "report/page.hpp"

namespace fd {
namespace {

std::string remarks_html(const std::vector<Remark>& remarks) {
  if (remarks.empty()) return "<p>None.</p>";
  std::string html = "<ul class=\"remarks\">\n";
  for (const Remark& remark : remarks)
    html += fmt::format(
        "<li class=\"{0}\" id=\"{1}\"><strong>{0}: <code>{1}</code></strong> {2} <span class=\"action\">What to do: "
        "{3}</span></li>\n",
        name(remark.weight), escaped(remark.name), escaped(remark.sentence), escaped(remark.action));
  return html + "</ul>";
}

std::string figures_html(const Model& model, const Findings& found) {
  std::string html;
  const auto figure = [&](const char* label, const std::string& value) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", label, escaped(value));
  };
  const auto number = [](double value, const char* format) {
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("not known");
  };
  figure("points", fmt::format("{} × {}", model.n, model.dimension));
  figure("bandwidth β", number(model.beta, "{:.5g}"));
  figure("density α", number(model.alpha, "{:g}"));
  figure("modes", std::to_string(model.modes()));
  figure("n_eff", number(found.n_eff, "{:.4g}"));
  figure("dimension d̂", number(found.d_hat, "{:.2f}"));
  figure("largest residual", number(found.largest_residual, "{:.1e}"));
  figure("precision", std::string(traits(model.precision).name));
  figure("time", number(model.seconds, "{:.3g} s"));
  return html;
}

std::string columns_html(const MapContent& map, std::size_t n) {
  std::string html;
  for (std::size_t j = 0; j < map.columns.size(); ++j)
    html += fmt::format("<script type=\"application/octet-stream\" id=\"column-{}\">{}</script>\n", j, base64(map.columns[j]));
  if (map.rows.size() < n)
    html += fmt::format("<script type=\"application/octet-stream\" id=\"rows\">{}</script>\n",
                        base64(std::vector<std::uint32_t>(map.rows.begin(), map.rows.end())));
  return html;
}

std::string limits_html(const MapContent& map) {
  std::string html;
  for (const std::string& limit : map.limits) html += fmt::format("<p class=\"sample\">{}</p>\n", escaped(limit));
  return html;
}

std::string title_of(const Model& model, const ReportOptions& options) {
  if (!options.title.empty()) return options.title;
  const auto document = nlohmann::json::parse(model.provenance, nullptr, false);
  const nlohmann::json::json_pointer place("/inputs/0/path");
  if (document.is_discarded() || !document.contains(place) || !document[place].is_string()) return "Diffusion map";
  const auto path = document[place].get<std::string>();
  return "Diffusion map of " + path.substr(path.find_last_of('/') + 1);
}

void check(const Model& model, const ReportOptions& options) {
  if (model.psi.rows() != model.n || model.psi.columns() != model.modes() || model.q.size() != model.n ||
      model.d.size() != model.n)
    throw Error(Failure::misuse, "a report needs the whole model, and this one has no arrays", "load it with its arrays");
  if (model.n == 0 || model.modes() == 0) throw Error(Failure::misuse, "a model without rows or modes has nothing to show");
  if (!model.names.empty() && model.names.size() != model.n)
    throw Error(Failure::misuse, fmt::format("{} names for {} rows", model.names.size(), model.n));
  if (options.rows == 0) throw Error(Failure::misuse, "a map of 0 points was asked for", "ask for at least one");
  for (const Labels& label : options.labels) {
    if (label.words.empty() == label.numbers.empty())
      throw Error(Failure::misuse, fmt::format("labels \"{}\" must be words or numbers, one of the two", printable(label.name)));
    const std::size_t size = std::max(label.words.size(), label.numbers.size());
    if (size != model.n)
      throw Error(Failure::misuse, fmt::format("labels \"{}\": {} of them for {} rows", printable(label.name), size, model.n),
                  "give one a row of the model");
  }
}

}  // namespace

std::vector<Remark> remarks(const Model& model) {
  check(model, {});
  return remarks_on(model, find_quickly(model));
}

std::string report_page(const Model& model, const ReportOptions& options, std::size_t* rows_shown) {
  check(model, options);
  const Findings found = find(model);
  const std::vector<Remark> remarks = remarks_on(model, found);
  const MapContent map = map_content(model, options.labels, options.rows);
  if (rows_shown != nullptr) *rows_shown = map.rows.size();
  return whole_page(page::report_content, title_of(model, options),
                    {{"title", escaped(title_of(model, options))},
                     {"answer", escaped(answer(model, found, remarks))},
                     {"figures", figures_html(model, found)},
                     {"remarks", remarks_html(remarks)},
                     {"limits", limits_html(map)}},
                    report_document(model, found, map), columns_html(map, model.n));
}

}  // namespace fd
