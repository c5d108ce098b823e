// What the contract tests run on: every back-end of the registry that works here, with every instruction set it takes, at every
// precision; and the oracle they are compared with. No test names a back-end itself.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "device/backend.hpp"

namespace fd::test {

inline std::unique_ptr<Backend> make_oracle() { return make_backend({"reference", "", 1}); }

struct Case {
  std::string backend, isa;  // no isa: the back-end has none to choose from
  Precision precision;

  std::unique_ptr<Backend> make(int threads = 2, std::optional<std::size_t> keep_bytes = {}, bool one_bandwidth = false) const {
    return make_backend({backend, isa, threads, keep_bytes, one_bandwidth});
  }
  std::string name() const { return backend + "_" + (isa.empty() ? "" : isa + "_") + std::string(traits(precision).name); }
};
inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name(); }

inline std::vector<Case> every_backend(const std::vector<Precision>& precisions) {
  std::vector<Case> cases;
  for (const std::string& backend : backend_names()) {
    std::vector<std::string> sets;
    try {
      for (const std::string& isa : instruction_sets())
        if (make_backend({backend, isa, 1})->isa() == isa) sets.push_back(isa);
      if (sets.empty() && make_backend({backend, "", 1})) sets.emplace_back();
    } catch (const Error& error) {
      if (error.kind() != Failure::device) throw;  // not on this machine
    }
    for (const std::string& isa : sets)
      for (const Precision precision : precisions) cases.push_back({backend, isa, precision});
  }
  return cases;
}

}  // namespace fd::test
