// One page that shows what a fit found: HTML with everything inside it, which asks nothing of the network and runs no script but its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd {

// What to know before a model is used. The names stay the same from version to version (docs/report.md lists them).
enum class Weight { serious, care, note };
const char* name(Weight weight);

struct Remark {
  std::string name;  // for programs: "not-converged"
  Weight weight = Weight::note;
  std::string sentence, action;
};

// Of a model with its arrays, heaviest first; measured in no time. Options are named as flags of the program.
std::vector<Remark> remarks(const Model& model);

// A column the map can be coloured by: words or numbers, one a row of the model. An empty word and NaN are missing. Whole numbers of at most 20
// kinds are shown as words are.
struct Labels {
  std::string name;
  std::vector<std::string> words;
  std::vector<double> numbers;
};

struct ReportOptions {
  std::string title;           // empty: the name of the first input file, where the model knows it
  std::vector<Labels> labels;  // in the order in which they are offered
  // The map holds at most so many points: a random sample of the rows of a larger model, which the page says. Labels that take much room may
  // leave room for fewer.
  std::size_t rows = 100000;
};

// The page. The same model and options give the same bytes. Text of the model and of labels is never markup, whatever it holds. Throws
// Error(misuse) for a model without its arrays, labels that are not one a row, and labels that are both words and numbers or neither. `rows_shown`: where to say how many points the map holds.
std::string report_page(const Model& model, const ReportOptions& options = {}, std::size_t* rows_shown = nullptr);

}  // namespace fd
