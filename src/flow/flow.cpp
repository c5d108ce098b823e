#include "flow/flow.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "flow/selectors.hpp"

namespace fd {
namespace flow {

Step probe_at(double beta, std::string reason) { return {Step::Kind::probe, beta, std::move(reason), {}}; }
Step accept_at(double beta, std::string boundary, std::string reason) {
  return {Step::Kind::accept, beta, std::move(reason), std::move(boundary)};
}
Step give_up_at(double beta, std::string reason) { return {Step::Kind::give_up, beta, std::move(reason), {}}; }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

static Step selected_step(const std::vector<Probe>& history, const FlowRules& rules) {
  switch (rules.select) {
    case Select::paper: return paper_step(history, rules);
    case Select::continuation: return continuation_step(history, rules);
    case Select::minimum: return minimum_step(survey(history, rules, false), rules);
    case Select::robust: break;
  }
  return robust_step(history, rules);
}

}  // namespace flow

Step decide(const std::vector<Probe>& history, const FlowRules& rules) {
  if (!(rules.beta_start > 0) || !std::isfinite(rules.beta_start))
    throw Error(Failure::misuse, "the flow cannot start at beta = " + flow::number(rules.beta_start), "give a positive `beta0`");
  if (!(rules.beta_min <= rules.beta_start && rules.beta_start <= rules.beta_max))
    throw Error(Failure::misuse,
                "the flow starts at beta = " + flow::number(rules.beta_start) + ", outside the allowed range " +
                    flow::number(rules.beta_min) + " to " + flow::number(rules.beta_max),
                "change `beta0` or `beta_max`");
  if (!(rules.first_ratio > 1) || !(rules.tolerance > 0) || rules.most_probes == 0)
    throw Error(Failure::misuse, "the flow needs a first ratio above 1, a positive tolerance and at least one probe");
  const Step step = flow::selected_step(history, rules);
  // whatever a selector makes of probes that contradict each other
  if (step.kind == Step::Kind::probe && history.size() >= rules.most_probes)
    return flow::give_up_at(step.beta, "no end in " + std::to_string(rules.most_probes) + " probes");
  return step;
}

}  // namespace fd
