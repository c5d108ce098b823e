#include "fit/least_time.hpp"

#include <limits>
#include <map>

namespace fd {

double least_seconds(Backend& backend, const Model& model, std::size_t coordinates) {
  const MachineLimit limit = backend.limit(model.precision);
  if (!limit.known() || model.passes == 0) return std::numeric_limits<double>::quiet_NaN();
  std::map<std::size_t, double> passes;  // by rung
  for (const Probe& probe : model.sweep) passes[probe.n] += static_cast<double>(probe.passes);
  const double width = static_cast<double>(model.columns) / static_cast<double>(model.passes);
  double seconds = 0;
  for (const auto& [n, count] : passes) {
    const double pairs = static_cast<double>(n) * static_cast<double>(n);
    const double kept = backend.kept(n, coordinates, model.precision).share;
    const double made = count - kept * (count - 1);
    seconds += pairs * (made * limit.seconds_per_pair(static_cast<double>(coordinates), width) +
                        (count - made) * limit.seconds_per_pair(0, width));
  }
  return seconds;
}

}  // namespace fd
