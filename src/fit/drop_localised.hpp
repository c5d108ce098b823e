// The leading modes that do not live on a few rows, instead of the leading ones: more are solved for until there are as many as were asked for.
#pragma once

#include <string>

#include "fit/bandwidth_search.hpp"

namespace fd {

struct LeftOut {
  std::string text;      // what is to be said about the modes left out; empty where there are none
  bool complete = true;  // there are as many others as were asked for
};

// `options` are those of the context. At most `solved_modes` are solved for.
LeftOut drop_localised(FitContext& context, Options& options, FinalSolution& final);

}  // namespace fd
