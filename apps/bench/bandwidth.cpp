// bandwidth: how good a choice of beta is on a table, by what the map keeps: the labels, if there are any, and the data themselves.
// The whole curve over two decades, with the choices of the four selectors on it.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "analysis/folds.hpp"
#include "analysis/nearest_neighbours.hpp"
#include "analysis/ridge_decoder.hpp"
#include "bench/figures.hpp"
#include "bench/interrupt_watch.hpp"
#include "bench/sampled_rows.hpp"
#include "bench/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/machine.hpp"
#include "common/validators.hpp"

namespace fd::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BandwidthWish {
  std::string points, labels;
  std::size_t rows = 4000, modes = 16, neighbours = 5, folds = 5, steps = 13, threads = 0;
  double decades = 2, alpha = 0.5;
  bool json = false;
};

struct Sampled {
  Table points;
  std::vector<std::size_t> labels;  // empty: there are none
};

Sampled sample(const BandwidthWish& wish) {
  const auto source = open_interruptible(wish.points);
  const auto chosen = random_rows(source->rows(), wish.rows);
  Sampled data{read_rows(*source, chosen, true), {}};
  if (wish.labels.empty()) return data;
  ReadOptions numbers;
  numbers.names = "none";  // the one column is the labels
  const auto given = open_interruptible(wish.labels, numbers);
  if (given->rows() != source->rows() || given->dimension() != 1)
    throw Error(Failure::input,
                fmt::format("--labels {}: {} rows and {} columns, for {} points", wish.labels, given->rows(), given->dimension(),
                            source->rows()),
                "one number a point, the same for points of one class");
  const Table values = read_rows(*given, chosen, true);
  std::map<double, std::size_t> classes;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    if (!std::isfinite(values(i, 0)))
      throw Error(Failure::input, fmt::format("--labels {}: row {} is not a number", wish.labels, chosen[i] + 1),
                  "leave points without a label out of both files");
    data.labels.push_back(classes.emplace(values(i, 0), classes.size()).first->second);
  }
  return data;
}

Eigen::MatrixXd matrix(const Table& table) {
  Eigen::MatrixXd values(static_cast<Eigen::Index>(table.rows()), static_cast<Eigen::Index>(table.columns()));
  for (Eigen::Index c = 0; c < values.cols(); ++c)
    for (Eigen::Index i = 0; i < values.rows(); ++i)
      values(i, c) = table(static_cast<std::size_t>(i), static_cast<std::size_t>(c));
  return values;
}

struct Selector {
  const char* name;
  Select select;
};
constexpr Selector selectors[] = {
    {"robust", Select::robust}, {"minimum", Select::minimum}, {"paper", Select::paper}, {"continuation", Select::continuation}};

class Curve {
 public:
  Curve(const BandwidthWish& wish, const Sampled& data)
      : wish_(wish), data_(data), targets_(matrix(data.points)), fold_(random_folds(data.points.rows(), wish.folds, 2)) {
    options_.modes = wish.modes;
    options_.alpha = wish.alpha;
    options_.threads = checked_threads(wish.threads);
    options_.keep_points = false;
    options_.observer = &stopper_;
  }

  Json choice(const Selector& selector) {
    Options options = options_;
    options.select = selector.select;
    Model model;
    const double seconds = seconds_of([&] { model = fit(data_.points.view(), options); });
    return {{"select", selector.name}, {"beta", figure(model.beta)}, {"seconds", seconds}, {"outcome", model.outcome}};
  }

  Json row(double beta, const std::vector<std::string>& chosen_by) {
    Options options = options_;
    options.beta = beta;
    Model model;
    const double seconds = seconds_of([&] { model = fit(data_.points.view(), options); });
    const Eigen::MatrixXd coordinates = matrix(model.embedding());
    const bool some = coordinates.cols() > 0;
    Json row = {{"beta", beta},
                {"chosen_by", chosen_by},
                {"n_eff", model.sweep.empty() ? Json(nullptr) : figure(model.sweep.back().n_eff)},
                {"first_value", some ? figure(model.eigenvalues.front()) : Json(nullptr)},
                {"last_value", some ? figure(model.eigenvalues.back()) : Json(nullptr)},
                {"accuracy", nullptr},
                {"error", some ? figure(held_out_error(coordinates, targets_, fold_)) : Json(nullptr)},
                {"converged", model.converged},
                {"seconds", seconds}};
    if (some && !data_.labels.empty())
      row["accuracy"] = figure(neighbour_accuracy(coordinates, data_.labels, fold_, wish_.neighbours));
    return row;
  }

 private:
  const BandwidthWish& wish_;
  const Sampled& data_;
  Eigen::MatrixXd targets_;
  std::vector<std::size_t> fold_;
  Options options_;
  InterruptObserver stopper_;
};

// The grid, and every choice between its points, ascending; the names of those who chose it beside each.
std::map<double, std::vector<std::string>> places(const BandwidthWish& wish, const Json& choices) {
  std::map<double, std::vector<std::string>> found;
  for (const Json& choice : choices)
    if (!choice["beta"].is_null()) found[choice["beta"].get<double>()].push_back(choice["select"].get<std::string>());
  if (found.empty()) throw Error(Failure::input, "no selector found a bandwidth", "look at the points with `flashdiffusion fit`");
  const double least = found.begin()->first, most = found.rbegin()->first;
  const double middle = 0.5 * (std::log10(least) + std::log10(most));
  const double low = std::min(std::log10(least), middle - wish.decades / 2),
               high = std::max(std::log10(most), middle + wish.decades / 2);
  for (std::size_t i = 0; i < wish.steps; ++i)
    found[std::pow(10, low + (high - low) * static_cast<double>(i) / static_cast<double>(wish.steps - 1))];
  return found;
}

constexpr const char* bandwidth_layout = "{:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n";

void print_bandwidth_row(const Json& row, std::size_t n) {
  std::string remarks = fmt::format("{}", fmt::join(row["chosen_by"].get<std::vector<std::string>>(), ", "));
  if (!row["converged"].get<bool>()) remarks += remarks.empty() ? "not converged" : "; not converged";
  const Json share = row["n_eff"].is_null() ? Json(nullptr) : Json(row["n_eff"].get<double>() / static_cast<double>(n));
  print_result(fmt::format(bandwidth_layout, figure_text(row["beta"], "{:.5g}"), figure_text(share, "{:.4f}"),
                           figure_text(row["first_value"], "{:.5f}"), figure_text(row["last_value"], "{:.5f}"),
                           figure_text(row["accuracy"], "{:.4f}"), figure_text(row["error"], "{:.4f}"),
                           figure_text(row["seconds"], "{:.2f}"), remarks));
}

// The row that is best by a figure; a row without the figure is never best.
std::optional<Json> best(const Json& rows, const char* name, bool largest) {
  std::optional<Json> found;
  for (const Json& row : rows) {
    if (row[name].is_null()) continue;
    const double value = row[name].get<double>();
    if (!found || (largest ? value > (*found)[name].get<double>() : value < (*found)[name].get<double>())) found = row;
  }
  return found;
}

int run_bandwidth(const BandwidthWish& wish) {
  if (!(wish.decades > 0 && wish.decades <= 20))
    throw Error(Failure::misuse, fmt::format("--decades {}: must be above 0 and at most 20", wish.decades), "2 is the default");
  if (wish.steps < 2) throw Error(Failure::misuse, fmt::format("--steps {}: at least 2", wish.steps), "13 is the default");
  const Sampled data = sample(wish);
  const std::size_t n = data.points.rows();
  Curve curve(wish, data);
  Options machine;
  machine.threads = checked_threads(wish.threads);
  Json document = {{"machine", machine_json(machine)},
                   {"points", wish.points},
                   {"labels", wish.labels.empty() ? Json(nullptr) : Json(wish.labels)},
                   {"n", n},
                   {"dimension", data.points.columns()},
                   {"modes", wish.modes},
                   {"neighbours", wish.neighbours},
                   {"folds", wish.folds},
                   {"selectors", Json::array()},
                   {"rows", Json::array()}};
  for (const Selector& selector : selectors) document["selectors"].push_back(curve.choice(selector));
  if (!wish.json) {
    print_result(fmt::format("{}\n{}: {} rows, {} columns, {} modes\n", document["machine"].dump(), wish.points, n,
                             data.points.columns(), wish.modes));
    print_result(
        fmt::format(bandwidth_layout, "beta", "n_eff/n", "lambda_1", "lambda_k", "accuracy", "error", "seconds", "chosen by"));
  }
  bool whole = true;
  for (const auto& [beta, chosen_by] : places(wish, document["selectors"])) {
    throw_if_interrupted();
    Json row = curve.row(beta, chosen_by);
    whole = whole && !row["error"].is_null() && (data.labels.empty() || !row["accuracy"].is_null());
    if (!wish.json) print_bandwidth_row(row, n);
    document["rows"].push_back(std::move(row));
  }
  const auto best_accuracy = best(document["rows"], "accuracy", true), best_error = best(document["rows"], "error", false);
  document["best"] = {{"accuracy", best_accuracy ? (*best_accuracy)["beta"] : Json(nullptr)},
                      {"error", best_error ? (*best_error)["beta"] : Json(nullptr)}};
  if (wish.json) print_result(document.dump(2) + "\n");
  else {
    if (best_accuracy)
      print_result(fmt::format("highest accuracy {:.4f} at beta {:.5g}\n", (*best_accuracy)["accuracy"].get<double>(),
                               (*best_accuracy)["beta"].get<double>()));
    if (best_error)
      print_result(fmt::format("least error {:.4f} at beta {:.5g}\n", (*best_error)["error"].get<double>(),
                               (*best_error)["beta"].get<double>()));
  }
  return whole ? done : numbers;
}

constexpr const char* bandwidth_footer =
    R"(A row a bandwidth: a grid over --decades decades in log beta round the selectors' choices, and the choices themselves.
  n_eff/n    effective number of neighbours of a point, as a share of all points
  accuracy   of the vote of the nearest neighbours in the map (coordinates lambda psi), cross-validated; with --labels
  error      of the data as decoded from the map, of points that the decoder has not seen: the share of the variance that is missed
             (a linear decoder with a ridge of 1e-8, cross-validated). It has a minimum of its own
The map itself is computed from all the rows, labels unseen. Exit status 1 where a figure is not a number.

Examples:
  flashdiffusion-bench bandwidth --points points.npy --labels classes.csv
  flashdiffusion-bench bandwidth --points points.npy -k 8 --rows 0 --json)";

}  // namespace

Action declare_bandwidth(CLI::App& app, const std::vector<std::string>&) {
  auto wish = std::make_shared<BandwidthWish>();
  const auto count = [&](const char* name, std::size_t& value, const char* help) {
    return app.add_option(name, value, help)->check(whole_number)->type_name("N")->capture_default_str();
  };
  app.add_option("--points", wish->points, "a file of points")->type_name("FILE")->required();
  app.add_option("--labels", wish->labels, "a file of one column: the class of each point, as a number")->type_name("FILE");
  count("--rows", wish->rows, "points taken, at random, where there are more; 0: all");
  count("-k,--modes", wish->modes, "modes of the map");
  count("--neighbours", wish->neighbours, "that vote");
  count("--folds", wish->folds, "of the cross-validation");
  count("--steps", wish->steps, "bandwidths of the grid");
  app.add_option("--decades", wish->decades, "that the grid spans, at least")
      ->check(real_number)
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--alpha", wish->alpha, "density normalisation, 0 to 1")
      ->check(real_number)
      ->type_name("A")
      ->capture_default_str();
  count("--threads", wish->threads, "0: all cores");
  app.add_flag("--json", wish->json, "one JSON document");
  app.footer(bandwidth_footer);
  return [wish] { return run_bandwidth(*wish); };
}

}  // namespace fd::cli
