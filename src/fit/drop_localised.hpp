// The leading modes that do not live on a few rows, instead of the leading ones: more are solved for until there are as many as were asked for.
#pragma once

#include <string>

#include "fit/bandwidth_search.hpp"

namespace fd {

// `options` are those of the context. Returns what is to be said about the modes left out; empty where there are none.
std::string drop_localised(FitContext& context, Options& options, FinalSolution& final);

}  // namespace fd
