// reproduce alanine: section 4. Diffusion modes of alanine dipeptide from interatomic distances alone, and how well a linear decoder of the
// first m modes gives back the backbone dihedrals of a trajectory that it has not seen.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "base/counted.hpp"
#include "base/worst.hpp"
#include "common/console.hpp"
#include "common/validators.hpp"
#include "reproduce/alanine_claims.hpp"
#include "reproduce/alanine_decoding.hpp"
#include "reproduce/alanine_frames.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/paper.hpp"
#include "reproduce/ramachandran.hpp"
#include "reproduce/statistics.hpp"

namespace fd::reproduce {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

struct Arguments {
  std::string positions, dihedrals, angles = "rad";
  std::optional<double> beta;
  bool ladder = false;
};

// ---- what is shown

ResultTable decoding_table(const std::vector<Decoded>& all, const PaperTable& paper) {
  ResultTable table{"decoding",
                    "Mean absolute error of the decoded angles, degrees. Held out: trajectories that the decoder has not seen; "
                    "random: frames left out of "
                    "those it was fitted to. Condition: of the centred Gram matrix of the modes.",
                    {{"m"},
                     {"φ held out"},
                     {"ψ held out"},
                     {"joint"},
                     {"φ random"},
                     {"ψ random"},
                     {"joint random"},
                     {"condition"},
                     {"φ paper"},
                     {"ψ paper"},
                     {"condition paper"}},
                    {}};
  for (const Decoded& one : all) {
    const std::size_t row = paper.row_of("m", static_cast<double>(one.m));
    const auto of_paper = [&](const char* column) { return row < paper.rows() ? Value(paper.at(row, column)) : Value(); };
    table.rows.push_back({static_cast<double>(one.m), one.held.phi, one.held.psi, one.held.joint, one.random.phi, one.random.psi,
                          one.random.joint, one.condition, of_paper("phi_trajectory"), of_paper("psi_trajectory"),
                          of_paper("condition")});
  }
  return table;
}

ResultTable run_table(const Model& model, const Frames& frames, const Split& split) {
  const Probe* probe = accepted(model);
  const auto number = [](std::size_t count) { return static_cast<double>(count); };
  double residual = 0;
  for (const double r : model.residuals) residual = worse(residual, r);
  const auto known = [&](double Probe::*field) { return probe != nullptr ? Value(probe->*field) : Value(); };
  return {"run",
          "The fit.",
          {{"quantity", "", true}, {"paper"}, {"ours"}},
          {{"frames", paper_number("alanine", "frames"), number(frames.features.rows())},
           {"trajectories, of which held out", fmt::format("{:.0f}, 1", paper_number("alanine", "trajectories")),
            fmt::format("{}, {}", frames.trajectories, split.held_trajectories)},
           {"frames: fitted to, random holdout, held out", "495,000, 5,000, 250,000",
            fmt::format("{}, {}, {}", split.train.size(), split.random.size(), split.held.size())},
           {"frames with φ > 0", {}, number(frames_right_of_zero(frames))},
           {"β", paper_number("alanine", "beta"), model.beta},
           {"probes", paper_number("alanine", "probes"), number(probes_of(model))},
           {"n_eff", paper_number("alanine", "n_eff"), known(&Probe::n_eff)},
           {"d̂", paper_number("alanine", "d_hat"), known(&Probe::d_hat)},
           {"Perron gap", {}, known(&Probe::perron_gap)},
           {"largest eigenvalue", paper_number("alanine", "largest_eigenvalue"), model.eigenvalues.front()},
           {fmt::format("eigenvalue {}", model.modes()),
            model.modes() == 256 ? Value(paper_number("alanine", "last_eigenvalue")) : Value(), model.eigenvalues.back()},
           {"largest residual", {}, residual},
           {"passes over the kernel", {}, number(model.passes)},
           {"seconds", paper_number("alanine", "seconds"), model.seconds},
           {"peak memory", cli::bytes_text(paper_number("alanine", "dense_kernel_bytes")) + ", if the kernel were stored",
            cli::bytes_text(static_cast<double>(model.peak_rss_bytes))}}};
}

ResultTable sweep_table(const Model& model) {
  ResultTable table{"sweep",
                    "Probes of the flow.",
                    {{"n"}, {"β"}, {"n_eff"}, {"d̂"}, {"Perron gap"}, {"V"}, {"passes"}, {"outcome", "", true}},
                    {}};
  for (const Probe& p : model.sweep)
    table.rows.push_back(
        {static_cast<double>(p.n), p.beta, p.n_eff, p.d_hat, p.perron_gap, p.v, static_cast<double>(p.passes), p.outcome});
  return table;
}

std::vector<Figure> decoding_figures(const std::vector<Decoded>& all, const Model& model, const PaperTable& paper) {
  Figure errors{"errors",
                "Error of decoded angles on trajectories held out",
                "The paper's figure 3a.",
                {"modes m", true},
                {"degrees", true},
                {}};
  errors.series = {{"φ, paper", Source::paper, paper.points("m", "phi_trajectory")},
                   {"ψ, paper", Source::paper, paper.points("m", "psi_trajectory")}};
  Series phi{"φ, ours", Source::ours, {}}, psi{"ψ, ours", Source::ours, {}};
  for (const Decoded& one : all) {
    phi.points.push_back({static_cast<double>(one.m), one.held.phi});
    psi.points.push_back({static_cast<double>(one.m), one.held.psi});
  }
  errors.series.push_back(std::move(phi));
  errors.series.push_back(std::move(psi));
  const double features = paper_number("alanine", "features"), onset = static_cast<double>(onset_of_psi(all));
  errors.marks = {{features, "D = 80"}};
  if (onset > 0 && std::abs(std::log2(onset / features)) > 0.7) errors.marks.push_back({onset, "onset of ψ"});  // words need room
  Figure spectrum{
      "spectrum", "Eigenvalues", "All nontrivial eigenvalues that were computed; the paper prints its first and its last.",
      {"mode"},   {"λ"},         {}};
  Series ours{"ours", Source::ours, {}, true, false};
  for (std::size_t j = 0; j < model.modes(); ++j) ours.points.push_back({static_cast<double>(j + 1), model.eigenvalues[j]});
  spectrum.series = {{"paper",
                      Source::paper,
                      {{1, paper_number("alanine", "largest_eigenvalue")}, {256, paper_number("alanine", "last_eigenvalue")}},
                      false},
                     std::move(ours)};
  return {std::move(errors), std::move(spectrum)};
}

void add_surfaces(const std::vector<Decoded>& all, const Frames& frames, const Split& split, Result& result) {
  const Decoded& last = all.back();
  const Decoded* coarse = &all.front();
  for (const Decoded& one : all)
    if (one.m == 8) coarse = &one;
  const MatrixXd truth = rows_of(frames.angles, split.held, 2);
  const FreeEnergy reference(truth), few(coarse->held_angles), many(last.held_angles);
  result.figures.push_back(reference.figure("reference", "Reference: trajectories held out"));
  result.figures.push_back(few.figure("few-modes", fmt::format("Decoded from {} modes", coarse->m)));
  result.figures.push_back(many.figure("many-modes", fmt::format("Decoded from {} modes", last.m)));
  result.tables.push_back({"surfaces",
                           "Share of the probability that lies in another cell of 10° × 10° than in the reference (half the sum "
                           "of absolute differences).",
                           {{"m"}, {"misplaced", "%"}},
                           {{static_cast<double>(coarse->m), 100 * reference.misplaced(few)},
                            {static_cast<double>(last.m), 100 * reference.misplaced(many)}}});
  // A strided piece of a trajectory held out, as decoded and as it was.
  Figure segment = reference.figure("segment", "A decoded piece of a trajectory held out");
  segment.caption =
      "The paper's figure 3b: free energy of the frames held out, and every 5th of 200 successive frames, true and decoded.";
  Series was{"true", Source::reference, {}}, found{"decoded", Source::ours, {}};
  std::vector<double> joint;
  for (Index i = 0; i < std::min<Index>(200, truth.rows()); i += 5) {
    was.points.push_back({truth(i, 0), truth(i, 1)});
    found.points.push_back({last.held_angles(i, 0), last.held_angles(i, 1)});
    joint.push_back(joint_error(last.held_angles, truth, i));
  }
  was.line = found.line = false;  // successive frames jump across the plane
  segment.series = {std::move(was), std::move(found)};
  result.figures.push_back(std::move(segment));
  const std::string claim = "mean joint error of a strided piece held out, degrees",
                    place = paper_place("alanine", "segment_joint_error");
  const double paper = paper_number("alanine", "segment_joint_error");
  const Value mean = mean_of(joint);
  const double error = mean.spread / std::sqrt(static_cast<double>(joint.size()));
  result.comparisons.push_back(
      last.m != static_cast<std::size_t>(paper_number("alanine", "modes"))
          ? unmeasured(claim, place, paper, fmt::format("the paper's is from 256 modes, there are {} here", last.m))
          : stated(claim, place, paper, Value(mean.number, error), mean.number <= paper + 2 * error,
                   "above the paper's by no more than twice the standard error of the mean over these frames",
                   "a piece of 40 frames; the mean over all frames held out is in the table"));
  const MatrixXd random_truth = rows_of(frames.angles, split.random, 2);
  Series frames_of{"frames left out at random", Source::ours, {}, false};
  for (Index i = 0; i < std::min<Index>(1500, random_truth.rows()); ++i)
    frames_of.points.push_back({random_truth(i, 0), random_truth(i, 1), 0, joint_error(last.random_angles, random_truth, i)});
  Figure scatter{"joint-error",
                 "Where the decoder errs",
                 "Frames left out at random, coloured by the joint error of their decoded angles.",
                 {"φ, degrees", false, -180, 180},
                 {"ψ, degrees", false, -180, 180},
                 {std::move(frames_of)}};
  scatter.shade = {"joint error, degrees", 0, 30};
  result.figures.push_back(std::move(scatter));
}

std::string held_text(const Split& split) {
  return split.held_trajectories == 1 ? std::string("the trajectory")
                                      : fmt::format("the {} trajectories", split.held_trajectories);
}

// Before anything is run: what was given makes sense, and the files belong together.
void check(const Setup& setup, const Arguments& arguments) {
  if (setup.sizes.size() > 1)
    throw Error(Failure::misuse, fmt::format("--n with {} numbers: alanine takes one", setup.sizes.size()),
                "give one number of frames; a run for each");
  if (arguments.beta && !(*arguments.beta > 0 && std::isfinite(*arguments.beta)))
    throw Error(Failure::misuse, fmt::format("--beta {}: a bandwidth is a finite number above zero", *arguments.beta),
                "leave the option out to have it chosen from the frames");
  check_files(arguments.positions, arguments.dihedrals, setup.sizes.empty() ? 0 : setup.sizes[0]);
}

Result run(const Setup& setup, const Arguments& arguments) {
  Result result;
  result.name = "alanine";
  result.title = "Alanine dipeptide: dihedrals from diffusion modes";
  setup.begin("alanine, reading");
  const std::size_t wanted = !setup.sizes.empty() ? setup.sizes[0] : setup.quick ? 3000 : 0;
  const Frames frames = read_frames(arguments.positions, arguments.dihedrals, *angle_unit_from_name(arguments.angles), wanted);
  const Split split = split_of(frames);

  Options options = setup.options();
  options.modes = std::min<std::size_t>(setup.quick ? 128 : static_cast<std::size_t>(paper_number("alanine", "modes")),
                                        frames.features.rows() / 8);
  options.tolerance = 1e-4;
  options.keep_points = false;
  options.ladder = arguments.ladder;
  options.select = arguments.ladder ? Select::robust : Select::paper;
  options.beta0_cap.reset();  // the paper's sweep starts at 8.64
  options.beta = arguments.beta;
  setup.begin(fmt::format("alanine, {} frames, {} modes", frames.features.rows(), options.modes));
  const Model model = fit(frames.features.view(), options);
  if (!model.converged) result.fault(model.outcome);

  setup.begin("alanine, decoding");
  std::vector<std::size_t> numbers;
  for (std::size_t m = 2; m <= model.modes(); m *= 2) numbers.push_back(m);
  if (numbers.empty() || numbers.back() != model.modes()) numbers.push_back(model.modes());
  const std::vector<Decoded> all = decode_all(model, frames, split, numbers);
  const PaperTable paper("alanine", "decoding");
  result.tables = {decoding_table(all, paper), run_table(model, frames, split), sweep_table(model)};
  compare_decoding(all, frames, split, result);
  compare_spectrum(model, arguments.beta ? Chosen::given : arguments.ladder ? Chosen::ladder : Chosen::flow, result);
  result.figures = decoding_figures(all, model, paper);
  add_surfaces(all, frames, split, result);
  const Decoded& last = all.back();
  const std::size_t right = frames_right_of_zero(frames);
  result.answer = fmt::format(
      "{} frames, {} modes at β = {:.4g}: the angles of {} held out are decoded to {:.2f}° (φ) and {:.2f}° (ψ) from all modes; "
      "the paper has 4.86° and 3.95° from 256 modes of 750,000 frames. {} of the frames here {} φ > 0.",
      frames.features.rows(), model.modes(), model.beta, held_text(split), last.held.phi, last.held.psi, right,
      one_or_many(right, "has", "have"));
  result.notes.push_back(fmt::format(
      "φ > 0 in {} of {} frames, {:.2g} %{}.", right, frames.angles.rows(),
      100 * static_cast<double>(right) / static_cast<double>(frames.angles.rows()),
      hardly_visited(frames)
          ? ": that side is hardly visited, so the errors say next to nothing of it, and are those of an easier "
            "task than on frames that visit it. They are no equals of the paper's, which does not say how often its frames do"
          : ""));
  result.notes.push_back(fmt::format("Distances of 10 heavy atoms to the first 8, 80 features; α = ½; ridge 1e-8 tr(G)/m; {}. {}",
                                     arguments.beta     ? "the bandwidth was given"
                                     : arguments.ladder ? "default rule with a ladder of samples"
                                                        : "the paper's rule on all frames, from its β₀, which no cap holds down",
                                     model.outcome));
  if (frames.cut)
    result.notes.push_back(fmt::format(
        "{} holds one array: its frames were cut into three parts of equal length, which stand for the paper's trajectories. "
        "They are parts of one, in time order: the part held out is less independent of the others than another trajectory is.",
        arguments.positions));
  if (frames.features.rows() < frames.all)
    result.notes.push_back(fmt::format("{} of {} frames, evenly spaced.", frames.features.rows(), frames.all));
  return result;
}

std::string lacks(const Arguments& arguments) {
  if (!arguments.positions.empty() && !arguments.dihedrals.empty()) return {};
  return "alanine needs --positions P.npz and --dihedrals A.npz: heavy-atom positions and backbone dihedrals in the mdshare "
         "format "
         "(alanine-dipeptide-3x250ns-heavy-atom-positions.npz and …-backbone-dihedrals.npz)";
}

}  // namespace

Running declare_alanine(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("--positions", arguments->positions,
                 "heavy-atom positions: an archive with an array a trajectory, or a plain array")
      ->type_name("FILE")
      ->group("alanine");
  app.add_option("--dihedrals", arguments->dihedrals, "phi and psi of the same frames")->type_name("FILE")->group("alanine");
  app.add_option("--angles", arguments->angles, "their unit")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember({"rad", "deg"}))
      ->group("alanine");
  app.add_flag("--ladder", arguments->ladder,
               "choose the bandwidth by the default rule, on samples first, instead of the paper's on all frames")
      ->group("alanine");
  app.add_option("--beta", arguments->beta, "a bandwidth, instead of choosing one")
      ->check(cli::real_number)
      ->type_name("B")
      ->group("alanine");
  return {[arguments](const Setup& setup) { return run(setup, *arguments); },
          [arguments](const Setup&) { return lacks(*arguments); }, [arguments](const Setup& setup) { check(setup, *arguments); }};
}

}  // namespace fd::reproduce
