// reproduce alanine: section 4. Diffusion modes of alanine dipeptide from interatomic distances alone, and how well a linear decoder of the
// first m modes gives back the backbone dihedrals of a trajectory that it has not seen.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "base/counted.hpp"
#include "common/console.hpp"
#include "common/validators.hpp"
#include "reproduce/alanine_claims.hpp"
#include "reproduce/alanine_decoding.hpp"
#include "reproduce/alanine_figures.hpp"
#include "reproduce/alanine_frames.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/paper.hpp"

namespace fd::reproduce {
namespace {

struct AlanineArguments {
  std::string positions, dihedrals, angles = "rad";
  std::optional<double> beta;
  bool trust_unit = false, ladder = false;
};

// ---- what is shown

ResultTable decoding_table(const std::string& name, const std::vector<Decoded>& all, double beta) {
  const PaperTable paper("alanine", "decoding");
  ResultTable table{
      name,
      fmt::format("Mean absolute error of the decoded angles at β = {:.4g}, degrees; the paper's at 276.4. Held out: "
                  "trajectories that the decoder has not seen; random: frames left out of those it was fitted to. "
                  "Condition: of the centred Gram matrix of the modes.",
                  beta),
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
       {"joint paper"},
       {"condition paper"}},
      {}};
  for (const Decoded& one : all) {
    const std::size_t row = paper.row_of("m", static_cast<double>(one.m));
    const auto of_paper = [&](const char* column) { return row < paper.rows() ? Value(paper.at(row, column)) : Value(); };
    table.rows.push_back({static_cast<double>(one.m), one.held.phi, one.held.psi, one.held.joint, one.random.phi, one.random.psi,
                          one.random.joint, one.condition, of_paper("phi_trajectory"), of_paper("psi_trajectory"),
                          of_paper("joint_trajectory"), of_paper("condition")});
  }
  return table;
}

// A column for each fit: at the paper's bandwidth (or the one that was given), and where the flow ended.
ResultTable run_table(const std::vector<const Model*>& models, const Frames& frames, const Split& split) {
  const auto number = [](std::size_t count) { return static_cast<double>(count); };
  ResultTable table{"run", "The fits.", {{"quantity", "", true}, {"paper"}, {"ours"}}, {}};
  if (models.size() > 1) table.columns = {{"quantity", "", true}, {"paper"}, {"ours, paper's β"}, {"ours, flow"}};
  const auto add = [&](const std::string& quantity, const Value& paper, const auto& ours) {
    table.rows.push_back({quantity, paper});
    for (const Model* model : models) table.rows.back().push_back(ours(*model));
  };
  const auto same = [&](const std::string& quantity, const Value& paper, const Value& ours) {
    add(quantity, paper, [&](const Model&) { return ours; });
  };
  const auto known = [](double Probe::*field) {
    return [field](const Model& model) {
      const Probe* probe = accepted(model);
      return probe != nullptr ? Value(probe->*field) : Value();
    };
  };
  const auto paper = [](const char* name) { return Value(paper_number("alanine", name)); };
  same("frames", paper("frames"), number(frames.features.rows()));
  same("trajectories, of which held out", fmt::format("{:.0f}, 1", paper_number("alanine", "trajectories")),
       fmt::format("{}, {}", frames.trajectories, split.held_trajectories));
  same("frames: fitted to, random holdout, held out", "495,000, 5,000, 250,000",
       fmt::format("{}, {}, {}", split.train.size(), split.random.size(), split.held.size()));
  same("frames with φ > 0", {}, number(frames_right_of_zero(frames)));
  add("β", paper("beta"), [](const Model& model) { return Value(model.beta); });
  add("dyadic probes", paper("probes"),  // a bandwidth that is given is not probed for
      [&](const Model& model) { return model.sweep.size() > 1 ? Value(number(dyadic_probes_of(model))) : Value(); });
  add("n_eff", paper("n_eff"), known(&Probe::n_eff));
  add("d̂", paper("d_hat"), known(&Probe::d_hat));
  add("1 − largest eigenvalue", 1 - paper_number("alanine", "largest_eigenvalue"),
      [](const Model& model) { return Value(1 - model.eigenvalues.front()); });
  const std::size_t modes = models.front()->modes();
  add(fmt::format("eigenvalue {}", modes), modes == 256 ? paper("last_eigenvalue") : Value(),
      [](const Model& model) { return Value(model.eigenvalues.back()); });
  add("largest residual", {}, [](const Model& model) { return Value(largest_residual(model)); });
  add("passes over the kernel", {}, [&](const Model& model) { return Value(number(model.passes)); });
  add("seconds", paper("seconds"), [](const Model& model) { return Value(model.seconds); });
  add("peak memory", fmt::format("{:.2f} TB, if the kernel were stored", paper_number("alanine", "dense_kernel_bytes") * 1e-12),
      [](const Model& model) { return Value(cli::bytes_text(static_cast<double>(model.peak_rss_bytes))); });
  return table;
}

ResultTable sweep_table(const Model& model) {
  ResultTable table{"sweep",
                    model.sweep.size() > 1 ? "Probes of the flow." : "What is known of the bandwidth that was given.",
                    {{"n"}, {"β"}, {"n_eff"}, {"d̂"}, {"Perron gap"}, {"V"}, {"passes"}, {"outcome", "", true}},
                    {}};
  for (const Probe& p : model.sweep)
    table.rows.push_back(
        {static_cast<double>(p.n), p.beta, p.n_eff, p.d_hat, p.perron_gap, p.v, static_cast<double>(p.passes), p.outcome});
  return table;
}

std::string held_text(const Split& split) {
  return split.held_trajectories == 1 ? std::string("the trajectory")
                                      : fmt::format("the {} trajectories", split.held_trajectories);
}

std::size_t wanted_frames(const Setup& setup) { return !setup.sizes.empty() ? setup.sizes[0] : setup.quick ? 3000 : 0; }

// A decoder that is fitted to fewer than two frames a mode says nothing.
Frames read(const Setup& setup, const AlanineArguments& arguments) {
  Frames frames = read_frames(arguments.positions, arguments.dihedrals,
                              {*angle_unit_from_name(arguments.angles), arguments.trust_unit}, wanted_frames(setup));
  const std::size_t used = frames.features.rows(), train = split_of(frames).train.size(),
                    needed = 2 * modes_for(used, setup.quick);
  if (train < needed)
    throw Error(Failure::input,
                fmt::format("{}: of the {} that are used the decoder is fitted to {}; at least {} are needed, two for each mode",
                            arguments.positions, counted(used, "frame"), train, needed),
                used < frames.all ? "give more frames by --n" : "give longer trajectories first, and a shorter one last");
  return frames;
}

// Before anything is run: what was given makes sense, and every frame that will be used can be. The frames are read again when their turn
// comes: they would count in the memory that experiments before them measure.
void check(const Setup& setup, const AlanineArguments& arguments) {
  if (setup.sizes.size() > 1)
    throw Error(Failure::misuse, fmt::format("--n with {} numbers: alanine takes one", setup.sizes.size()),
                "give one number of frames; a run for each");
  if (arguments.beta && !(*arguments.beta > 0 && std::isfinite(*arguments.beta)))
    throw Error(Failure::misuse, fmt::format("--beta {}: a bandwidth is a finite number above zero", *arguments.beta),
                "leave the option out to have it chosen from the frames");
  if (arguments.beta && arguments.ladder)
    throw Error(Failure::misuse, "--beta and --ladder: a bandwidth that is given is not chosen", "leave one of them out");
  setup.begin("alanine, checking its files");
  read(setup, arguments);
}

Result run(const Setup& setup, const AlanineArguments& arguments) {
  Result result;
  result.name = "alanine";
  result.title = "Alanine dipeptide: dihedrals from diffusion modes";
  setup.begin("alanine, reading");
  const Frames frames = read(setup, arguments);
  const Split split = split_of(frames);

  Options options = setup.options();
  options.modes = modes_for(frames.features.rows(), setup.quick);
  options.tolerance = 1e-4;
  options.keep_points = false;
  const auto fitted = [&](const char* what) {
    setup.begin(fmt::format("alanine, {} frames, {} modes, {}", frames.features.rows(), options.modes, what));
    Model model = fit(frames.features.view(), options);
    if (!model.converged) result.fault(fmt::format("β = {:.4g}: {}", model.beta, model.outcome));
    return model;
  };
  // The paper decodes at 276.4, which its rule does not give on these frames: what is decoded is compared there, and the flow by itself.
  std::optional<Model> flow;
  const Chosen chosen = arguments.beta ? Chosen::given : arguments.ladder ? Chosen::ladder : Chosen::flow;
  if (chosen != Chosen::given) {
    options.ladder = arguments.ladder;
    options.select = arguments.ladder ? Select::robust : Select::paper;
    options.beta0_cap.reset();  // the paper's sweep starts at 8.64
    flow = fitted("the flow");
  }
  options.ladder = false;
  options.beta = arguments.beta.value_or(paper_number("alanine", "beta"));
  const Model model = fitted(arguments.beta ? "the bandwidth that was given" : "the paper's bandwidth");

  setup.begin("alanine, decoding");
  std::vector<std::size_t> numbers;
  for (std::size_t m = 2; m <= model.modes(); m *= 2) numbers.push_back(m);
  if (numbers.empty() || numbers.back() != model.modes()) numbers.push_back(model.modes());
  const std::vector<Decoded> all = decode_all(model, frames, split, numbers);
  result.tables = {decoding_table("decoding", all, model.beta)};
  std::string of_flow;
  if (flow) {
    const std::vector<Decoded> there = decode_all(*flow, frames, split, numbers);
    result.tables.push_back(decoding_table("decoding_flow", there, flow->beta));
    of_flow = fmt::format(" The {} ends at β = {:.4g}, and decodes to {:.2f}° and {:.2f}° there.",
                          arguments.ladder ? "default rule" : "flow", flow->beta, there.back().held.phi, there.back().held.psi);
  }
  std::vector<const Model*> models = {&model};
  if (flow) models.push_back(&*flow);
  result.tables.push_back(run_table(models, frames, split));
  result.tables.push_back(sweep_table(flow ? *flow : model));
  compare_decoding(all, frames, split, model.beta, result);
  compare_spectrum(model, result);
  compare_flow(flow ? &*flow : nullptr, chosen, result);
  compare_time(flow ? *flow : model, chosen, result);
  add_figures(all, model, frames, split, result);
  const Decoded& last = all.back();
  const std::size_t right = frames_right_of_zero(frames);
  result.answer = fmt::format(
      "{} frames, {} modes at β = {:.4g}: the angles of {} held out are decoded to {:.2f}° (φ) and {:.2f}° (ψ) from all modes; "
      "the paper has 4.86° and 3.95° from 256 modes of 750,000 frames at 276.4.{} {} of the frames here {} φ > 0.",
      frames.features.rows(), model.modes(), model.beta, held_text(split), last.held.phi, last.held.psi, of_flow, right,
      one_or_many(right, "has", "have"));
  result.notes.push_back(fmt::format(
      "φ > 0 in {} of {} frames, {:.2g} %{}.", right, frames.angles.rows(),
      100 * static_cast<double>(right) / static_cast<double>(frames.angles.rows()),
      hardly_visited(frames)
          ? ": that side is hardly visited, so the errors say next to nothing of it, and are those of an easier "
            "task than on frames that visit it. They are no equals of the paper's, which does not say how often its frames do"
          : ""));
  result.notes.push_back(
      fmt::format("Distances of 10 heavy atoms to the first 8, 80 features; α = ½; ridge 1e-8 tr(G)/m; {}.",
                  arguments.beta ? "one fit, at the bandwidth that was given"
                  : arguments.ladder
                      ? "two fits: by the default rule with a ladder of samples, and at the paper's bandwidth"
                      : "two fits: by the paper's rule on all frames, from its β₀, which no cap holds down, and at the paper's "
                        "bandwidth"));
  if (flow) result.notes.push_back(fmt::format("{}: {}.", arguments.ladder ? "Default rule" : "Flow", flow->outcome));
  if (frames.cut)
    result.notes.push_back(fmt::format(
        "{} holds one array: its frames were cut into three parts of equal length, which stand for the paper's trajectories. "
        "They are parts of one, in time order: the part held out is less independent of the others than another trajectory is.",
        arguments.positions));
  if (!setup.sizes.empty() && setup.sizes[0] > frames.all)
    result.notes.push_back(fmt::format("--n {}: the files have {}.", setup.sizes[0], counted(frames.all, "frame")));
  if (frames.features.rows() < frames.all)
    result.notes.push_back(fmt::format("{} of {} frames, evenly spaced.", frames.features.rows(), frames.all));
  return result;
}

// As if the paper's frames had been given, and its modes made of them.
void claims_of_alanine(const Setup&, Result& result) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto modes = static_cast<std::size_t>(paper_number("alanine", "modes"));
  Model model;
  model.n = static_cast<std::size_t>(paper_number("alanine", "frames"));
  model.beta = paper_number("alanine", "beta");
  model.eigenvalues.assign(modes, nan);
  std::vector<Decoded> all;
  for (std::size_t m = 2; m <= modes; m *= 2) all.push_back({m, nan, {nan, nan, nan}, {nan, nan, nan}, {}, {}});
  compare_decoding(all, {}, {}, model.beta, result);
  compare_spectrum(model, result);
  compare_flow(nullptr, Chosen::given, result);
  compare_time(model, Chosen::flow, result);
}

std::string lacks(const AlanineArguments& arguments) {
  if (!arguments.positions.empty() && !arguments.dihedrals.empty()) return {};
  return "alanine needs --positions P.npz and --dihedrals A.npz: heavy-atom positions and backbone dihedrals in the mdshare "
         "format "
         "(alanine-dipeptide-3x250ns-heavy-atom-positions.npz and …-backbone-dihedrals.npz)";
}

}  // namespace

Running declare_alanine(CLI::App& app) {
  auto arguments = std::make_shared<AlanineArguments>();
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
  app.add_flag("--trust-unit", arguments->trust_unit, "they are in that unit, even where they look like the other")
      ->group("alanine");
  app.add_flag("--ladder", arguments->ladder,
               "choose the other bandwidth by the default rule, on samples first, instead of the paper's on all frames")
      ->group("alanine");
  app.add_option("--beta", arguments->beta, "one fit at this bandwidth, instead of one by the flow and one at the paper's 276.4")
      ->check(cli::real_number)
      ->type_name("B")
      ->group("alanine");
  return {[arguments](const Setup& setup) { return run(setup, *arguments); }, claims_of_alanine,
          [arguments](const Setup&) { return lacks(*arguments); }, [arguments](const Setup& setup) { check(setup, *arguments); }};
}

}  // namespace fd::reproduce
