#include "flow/flow.hpp"

#include <cmath>
#include <cstdio>
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
  switch (rules.select) {
    case Select::paper: return flow::paper_step(history, rules);
    case Select::continuation: return flow::continuation_step(history, rules);
    case Select::minimum: return flow::minimum_step(flow::survey(history, rules, false), rules);
    case Select::robust: break;
  }
  return flow::robust_step(history, rules);
}

}  // namespace fd
