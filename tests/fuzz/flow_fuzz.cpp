// The flow's decision on histories that no kernel would make: any terms, NaN and infinities among them, any outcome. Whatever a
// probe says, the search ends after at most `most_probes` probes, asks for finite positive bandwidths inside the range, accepts none
// that was seen to be inadmissible, and decides the same again; the paper's and the continuation's sweeps go upwards.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <flashdiffusion/error.hpp>

#include "flow/flow.hpp"
#include "flow/landscape.hpp"
#include "require.hpp"

namespace {

using fd::Probe, fd::FlowRules, fd::Step, fd::Select, fd::fuzz::require;

// A term of V: usually of a usual size, sometimes what a broken solve leaves behind.
double term(FuzzedDataProvider& bytes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const int form = bytes.ConsumeIntegral<std::uint8_t>();
  if (form < 240) return std::exp(0.1 * (form - 120));
  if (form < 244) return bytes.ConsumeFloatingPoint<double>();
  constexpr double odd[] = {0, -1, infinity, -infinity, 1e-320, 1e308};
  return form < 250 ? odd[form - 244] : std::numeric_limits<double>::quiet_NaN();
}

Probe probe_at(double beta, FuzzedDataProvider& bytes, const FlowRules& rules) {
  constexpr const char* outcomes[] = {"resolved", "resolved",      "resolved", "wall", "sparse",
                                      "flat",     "not converged", "failed",   ""};
  Probe probe;
  probe.n = 4096;
  probe.beta = beta;
  probe.v_bias = term(bytes);
  probe.v_stat = term(bytes);
  probe.v_mach = term(bytes);
  probe.v = bytes.ConsumeBool() ? term(bytes) : probe.v_bias + probe.v_stat + probe.v_mach;
  probe.perron_gap = bytes.ConsumeBool() ? 0.1 : term(bytes) * fd::wall_gap(probe.precision, rules.potential);
  probe.d_hat = term(bytes);
  probe.localised = bytes.ConsumeIntegralInRange<std::size_t>(0, rules.potential.modes);
  probe.passes = bytes.ConsumeIntegralInRange<std::size_t>(0, 200);
  probe.outcome = outcomes[bytes.ConsumeIntegralInRange<std::size_t>(0, std::size(outcomes) - 1)];
  return probe;
}

FlowRules rules_from(FuzzedDataProvider& bytes) {
  constexpr Select selectors[] = {Select::robust, Select::minimum, Select::paper, Select::continuation};
  FlowRules rules;
  rules.select = selectors[bytes.ConsumeIntegralInRange<int>(0, 3)];
  rules.beta_start = std::exp(bytes.ConsumeFloatingPointInRange<double>(-60, 60));
  if (bytes.ConsumeBool()) rules.beta_max = rules.beta_start * std::exp(bytes.ConsumeFloatingPointInRange<double>(0, 20));
  if (bytes.ConsumeBool()) rules.beta_min = rules.beta_start * std::exp(-bytes.ConsumeFloatingPointInRange<double>(0, 20));
  if (bytes.ConsumeBool()) rules.first_ratio = 1.25;
  rules.most_probes = bytes.ConsumeIntegralInRange<std::size_t>(1, 40);
  rules.potential.modes = bytes.ConsumeIntegralInRange<std::size_t>(1, 30);
  return rules;
}

bool same(const Step& a, const Step& b) {
  return a.kind == b.kind && a.beta == b.beta && a.reason == b.reason && a.boundary == b.boundary;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  const FlowRules rules = rules_from(bytes);
  const bool upwards = rules.select == Select::paper || rules.select == Select::continuation;
  std::vector<Probe> history;
  for (;;) {
    const Step step = fd::decide(history, rules);
    require(std::isfinite(step.beta) && step.beta > 0, "a finite positive bandwidth");
    require(step.beta >= rules.beta_min * (1 - 1e-9) && step.beta <= rules.beta_max * (1 + 1e-9), "a bandwidth inside the range");
    require(!step.reason.empty(), "a reason");
    require(step.boundary.empty() == (step.kind != Step::Kind::accept), "a boundary for what is accepted");
    if (step.kind == Step::Kind::probe) {
      require(history.size() < rules.most_probes, "an end");
      if (upwards) require(history.empty() || step.beta > history.front().beta, "a sweep upwards");
      // A bandwidth gives one outcome, and a search ends where it is asked for one again (fit/bandwidth_search.cpp).
      for (const Probe& probe : history)
        if (probe.beta == step.beta) return 0;
      history.push_back(probe_at(step.beta, bytes, rules));
      continue;
    }
    require(!history.empty(), "no answer before a probe");
    require(same(step, fd::decide(history, rules)), "the same decision again");
    if (step.kind == Step::Kind::accept)
      for (const Probe& probe : history) {
        if (probe.beta != step.beta) continue;
        require(!fd::flow::past_wall(probe, rules) && fd::flow::usable(probe), "no inadmissible bandwidth");
      }
    return 0;
  }
}
