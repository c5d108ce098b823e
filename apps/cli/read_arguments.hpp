// How files of points are read, as words on a command line: the options that every verb with points shares.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/read_points.hpp>

namespace CLI {
class App;
}

namespace fd::cli {

struct ReadArguments {
  std::string header = "auto", names = "auto", missing = "refuse";

  void declare(CLI::App& app);
  ReadOptions options() const;
};

// What was taken for what in the files, in words of the command line.
std::vector<std::string> notes_of(const PointSource& source);

}  // namespace fd::cli
