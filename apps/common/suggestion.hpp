// The known word closest to one that is not known.
#pragma once

#include <string>
#include <vector>

namespace fd::cli {

// Empty where nothing is near: more than a third of the letters would have to change.
std::string closest(const std::string& word, const std::vector<std::string>& known);

}  // namespace fd::cli
