// How files of points are read, as words on a command line: the options that every verb with points shares.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <flashdiffusion/read_points.hpp>

namespace fd::cli {

struct ReadArguments {
  std::string header = "auto", names = "auto", missing = "refuse";

  void declare(CLI::App& app);
  ReadOptions options() const;
};

// Says what was taken for what, a note each.
void remark_notes(const PointSource& source);

}  // namespace fd::cli
