// Stand-ins for the verbs that make their own data and take long: they declare no options and do nothing.
#include "cli/verb.hpp"
#include "common/exit_status.hpp"
#include "reproduce/verb.hpp"

namespace fd::cli {

namespace {
Action nothing() {
  return [] { return static_cast<int>(done); };
}
}  // namespace

Action declare_demo(CLI::App&, const std::vector<std::string>&) { return nothing(); }
Action declare_selftest(CLI::App&, const std::vector<std::string>&) { return nothing(); }
Action declare_reproduce(CLI::App&, const std::vector<std::string>&) { return nothing(); }

}  // namespace fd::cli
