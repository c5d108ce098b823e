// How the lines of a file find the rows of a model: the flags of the verbs that read labels or targets.
#pragma once

#include <string>

#include <flashdiffusion/model.hpp>

#include "io/label_layout.hpp"

namespace CLI {
class App;
}

namespace fd::cli {

struct PlacingFlags {
  bool in_order = false, by_name = false;
};

// `file`: what the option's text calls it ("LABELS").
void declare_placing(CLI::App& app, const std::string& file, PlacingFlags& flags);

LabelledRows labelled_rows(const Model& model, const PlacingFlags& flags);

}  // namespace fd::cli
