#include "report/document.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/components.hpp"

namespace fd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t listed_rows = 1000;  // of the table of rows set aside

Json sweep_rows(const Model& model) {
  Json rows = Json::array();
  for (const Probe& p : model.sweep)
    rows.push_back({{"n", p.n},
                    {"precision", traits(p.precision).name},
                    {"beta", p.beta},
                    {"n_eff", p.n_eff},
                    {"d_hat", p.d_hat},
                    {"perron_gap", p.perron_gap},
                    {"v_bias", p.v_bias},
                    {"v_stat", p.v_stat},
                    {"v_mach", p.v_mach},
                    {"v", p.v},
                    {"aside", p.aside},
                    {"localised", p.localised},
                    {"passes", p.passes},
                    {"seconds", p.seconds},
                    {"outcome", p.outcome}});
  return rows;
}

Json named_row(const Model& model, std::size_t row) {
  Json entry = {{"row", row + 1}};
  if (!model.names.empty()) entry["name"] = model.names[row];
  return entry;
}

Json modes_table(const Model& model, const Findings& found) {
  Json modes = Json::array();
  for (std::size_t j = 0; j < model.modes(); ++j) {
    const ModeSupport& support = found.supports[j];
    Json carriers = Json::array();
    for (const RowShare& carrier : support.carriers) {
      Json entry = named_row(model, carrier.row);
      entry["share"] = carrier.share;
      carriers.push_back(entry);
    }
    const bool on_few_rows = localised(model, support);
    modes.push_back({{"eigenvalue", model.eigenvalues[j]},
                     {"residual", j < model.residuals.size() ? model.residuals[j] : std::nan("")},
                     {"time_scale", time_scale(model.eigenvalues[j])},
                     {"support", support.rows},
                     {"localised", on_few_rows},
                     {"carriers", on_few_rows ? carriers : Json::array()}});
  }
  return modes;
}

Json aside_table(const Model& model) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(listed_rows, model.aside.size()); ++i) rows.push_back(named_row(model, model.aside[i]));
  return {{"count", model.aside.size()}, {"rows", rows}};
}

Json retained_table(const Findings& found) {
  Json masses = Json::array();
  for (const RetainedMass& mass : found.retained.masses)
    masses.push_back({{"neighbours", mass.neighbours},
                      {"mean", mass.share.mean},
                      {"lowest", mass.share.lowest},
                      {"highest", mass.share.highest},
                      {"texts", {percent(mass.share.mean), percent(mass.share.lowest), percent(mass.share.highest)}}});
  return {{"rows", found.retained.rows.size()}, {"masses", masses}, {"reading", reading_of_retained_mass(found)}};
}

Json column_heads(const std::vector<Column>& columns) {
  Json heads = Json::array();
  for (const Column& column : columns) {
    Json head = {{"name", column.name}, {"kind", column.kind}};
    head["form"] = column.form;
    if (column.form == "words") head["words"] = column.words;
    if (column.form == "steps") head["low"] = column.low, head["step"] = column.step;
    if (column.form == "decimal") head["low"] = column.low, head["decimals"] = column.decimals;
    heads.push_back(head);
  }
  return heads;
}

Json shown_names(const Model& model, const MapContent& map) {
  if (!map.names) return Json();
  Json names = Json::array();
  for (const std::size_t row : map.rows) names.push_back(model.names[row]);
  return names;
}

}  // namespace

Json report_document(const Model& model, const Findings& found, const MapContent& map) {
  Json provenance = Json::parse(model.provenance, nullptr, false);
  if (provenance.is_discarded()) provenance = model.provenance;
  if (provenance.is_object()) provenance.erase("feature_names");  // nothing on the page needs them, and there may be millions
  return {{"n", model.n},
          {"dimension", model.dimension},
          {"beta", model.beta},
          {"alpha", model.alpha},
          {"precision", traits(model.precision).name},
          {"tolerance", found.tolerance},
          {"perron_residual", model.perron_residual},
          {"chosen", found.chosen},
          {"modes", modes_table(model, found)},
          {"keep",
           {{"modes", found.keep.modes},
            {"last", found.keep.modes > 0 ? found.counted[found.keep.modes - 1] + 1 : 0},
            {"clear", found.keep.clear},
            {"reason", reason_to_keep(model, found)}}},
          {"pieces", next_to_one(model.eigenvalues)},
          {"sweep", sweep_rows(model)},
          {"exponent_reading", reading_of_exponent(model, found)},
          {"retained", retained_table(found)},
          {"aside", aside_table(model)},
          {"passes", model.passes},
          {"full_passes", model.full_passes},
          {"seconds", model.seconds},
          {"forecast_seconds", model.forecast_seconds},
          {"forecast_passes", model.forecast_passes},
          {"least_seconds", model.least_seconds},
          {"provenance", provenance},
          {"columns", column_heads(map.columns)},
          {"shown", map.rows.size()},
          {"names", shown_names(model, map)},
          {"named", !model.names.empty()}};
}

}  // namespace fd
