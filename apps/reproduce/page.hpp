// Results as HTML pages in the report's style: one for an experiment, one over all of them with the verdict on every claim. Each is one file
// that asks nothing of the network; text of a result is never markup.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

std::string experiment_page(const Result& result, const std::string& command);
// Links to "<name>.html" beside it, for the names in `pages`.
std::string index_page(const std::vector<Result>& results, const std::vector<LeftOut>& left_out,
                       const std::vector<std::string>& pages, const std::string& command);

}  // namespace fd::reproduce
