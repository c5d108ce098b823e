// An experiment of the paper as a plain record: what was measured, what the paper has, whether they agree, and figures of both. One
// printer makes text of it, one JSON, one an HTML page; an experiment knows none of them.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/options.hpp>

namespace CLI {
class App;
}

namespace fd::reproduce {

// A number, perhaps with its spread (one standard deviation), or words. Neither: not known.
struct Value {
  double number = std::numeric_limits<double>::quiet_NaN();
  double spread = std::numeric_limits<double>::quiet_NaN();
  std::string words;

  Value() = default;
  Value(double value) : number(value) {}  // NOLINT(google-explicit-constructor): cells are written as numbers and words
  Value(double value, double deviation) : number(value), spread(deviation) {}
  Value(std::string text) : words(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* text) : words(text) {}             // NOLINT(google-explicit-constructor)
  bool known() const { return !words.empty() || number == number; }
};

struct ResultColumn {
  std::string name;    // "β", "time"
  std::string unit{};  // "s", "%"; empty: a pure number
  bool words = false;  // aligned left
};

struct ResultTable {
  std::string name;     // for files and programs: "bandwidths"
  std::string caption;  // a sentence
  std::vector<ResultColumn> columns;
  std::vector<std::vector<Value>> rows;
};

enum class Verdict { agrees, differs, unmeasured };

// A claim of the paper. `rule` says when the two agree, `why` what explains a difference (or why nothing was measured); where they agree it is
// empty.
struct Comparison {
  std::string claim;
  std::string where;  // in the paper
  Value paper, ours;
  std::string rule;
  Verdict verdict = Verdict::unmeasured;
  std::string why;
};

struct FigurePoint {
  double x, y;
  double error = 0;                                         // half an error bar
  double shade = std::numeric_limits<double>::quiet_NaN();  // colour, in Figure::shade
};

enum class Source {
  paper,
  ours,
  guide,
  reference
};  // guide: a law, drawn dashed and without marks; reference: what ours should be

struct Series {
  std::string name;
  Source source = Source::ours;
  std::vector<FigurePoint> points;
  bool line = true;  // between its points
  bool marks = true;
  // Place among the colours of its source, where two series belong together; the second of them is then dashed. Otherwise the next colour.
  std::size_t colour = next_colour;
  bool dashed = false;
  static constexpr std::size_t next_colour = static_cast<std::size_t>(-1);
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();  // NaN: from the points
};

struct VerticalMark {
  double x;
  std::string text;
};

// Colours of a heat map or of points, from low to high.
struct Shade {
  std::string label;
  double low = 0, high = 1;
};

// A function on a grid, under the series: values[row * across + column], rows from the bottom; NaN is empty. It fills the axes, whose low and
// high must be given.
struct HeatMap {
  std::size_t across = 0, up = 0;
  std::vector<double> values;
};

struct Figure {
  std::string name, title, caption;
  Axis x, y;
  std::vector<Series> series;
  std::vector<VerticalMark> marks{};
  HeatMap heat{};
  Shade shade{};
  bool wide = false;  // a row of its own; others share a row in pairs
};

struct Result {
  std::string name, title;
  std::string answer;  // one or two sentences: what came out
  std::vector<Comparison> comparisons;
  std::vector<ResultTable> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;     // how it was done, what it leaves out
  std::vector<std::string> faults{};  // numbers of ours that are not what they should be; notes say so too
  bool converged() const { return faults.empty(); }
  // Ours of a comparison that was made and is no number: nothing else says so where an experiment did not look.
  void fault_what_is_no_number() {
    for (const Comparison& c : comparisons)
      if (c.verdict == Verdict::differs && !c.ours.known()) fault(c.claim + ": ours is not a number");
  }
  void fault(const std::string& what) {
    faults.push_back(what);
    notes.push_back(what);
  }
};

// One of all that was left out, why, and what the paper claims of it.
struct LeftOut {
  std::string name, reason;
  std::vector<Comparison> claims;
};

// What all experiments are given.
struct Setup {
  bool quick = false;              // a small form: seconds, on two cores
  std::vector<std::size_t> sizes;  // of samples, ascending, each once; empty: the experiment's own
  std::size_t seeds = 0;           // repetitions; 0: the experiment's own
  int threads = 0;
  std::string python;            // for peers in Python; empty: the first that has them
  Observer* observer = nullptr;  // of fits: progress, and whether to stop
  std::function<void(const std::string&)> stage = [](const std::string&) {};  // what is being done, for the line of progress

  Options options() const;                    // threads and observer are set
  void begin(const std::string& what) const;  // a stage; Error(interrupted) where an interrupt was requested
};

// What an experiment does once the command line has been read. `claims`: every comparison that a run makes, into the record, of measurements that
// are blank: what the paper claims, where nothing is run. `lacks`: empty, or what it cannot run without and how to give it.
struct Running {
  std::function<Result(const Setup&)> run;
  std::function<void(const Setup&, Result&)> claims;
  std::function<std::string(const Setup&)> lacks = [](const Setup&) { return std::string(); };
  std::function<void(const Setup&)> check = [](const Setup&) {
  };  // Error where it would refuse what it was given, before any work
};

// A row of the table in experiments.cpp. `takes`: which of the common options --n, --seeds, --python mean something to it. Options of its own
// are declared on `app`, in the group `name`; no two experiments may share the name of one.
struct Experiment {
  const char* name;
  const char* summary;
  std::vector<std::string> takes;
  Running (*declare)(CLI::App& app);
};

const std::vector<Experiment>& experiments();

}  // namespace fd::reproduce
