// The selectors behind decide(), one file each. Internal to the flow.
#pragma once

#include <string>
#include <vector>

#include "flow/flow.hpp"
#include "flow/landscape.hpp"

namespace fd::flow {

Step paper_step(const std::vector<Probe>& history, const FlowRules& rules);
Step minimum_step(const Landscape& land, const FlowRules& rules);
Step descend(const Landscape& land, const FlowRules& rules);  // where no mark is good
Step robust_step(const std::vector<Probe>& history, const FlowRules& rules);
Step continuation_step(const std::vector<Probe>& history, const FlowRules& rules);

inline constexpr double span = 13.8;           // a factor 1e6 either side of the start is as far as a search goes
inline constexpr double long_step = 1.386294;  // factor 4

// The minimiser of V as far as the probes enclose it: NaN where they do not.
double enclosed_minimiser(const Landscape& land, const FlowRules& rules);

Step probe_at(double beta, std::string reason);
Step accept_at(double beta, std::string boundary, std::string reason);
Step give_up_at(double beta, std::string reason);
std::string number(double value);  // three significant digits

}  // namespace fd::flow
