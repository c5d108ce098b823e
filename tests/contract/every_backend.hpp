// What the contract tests run on: every back-end of the registry that works here, with every instruction set it takes, at every
// precision, and with its rows spread over ranks; and the oracle they are compared with. No test names a back-end itself.
#pragma once

#include <algorithm>
#include <cstdlib>
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
  int ranks = 1;  // threads that share the rows, however few these are

  std::unique_ptr<Backend> make(int threads = 2, std::optional<std::size_t> keep_bytes = {}, bool one_bandwidth = false) const {
    BackendRequest request{backend, isa, threads, keep_bytes, one_bandwidth};
    request.ranks = ranks;
    request.rows_a_rank = 1;
    return make_backend(request);
  }
  // Interpreted, hundreds of times slower than a machine (the tests on the software GPU say so): the same kinds of tables, of fewer rows, and some of the
  // bandwidths and widths.
  static bool slow() { return std::getenv("FD_SLOW_DEVICE") != nullptr; }
  static std::size_t rows(std::size_t usual) { return slow() ? std::min<std::size_t>(usual, 140) : usual; }  // two blocks of 128
  // Every `step`-th and the last; the first alone where that is all of them.
  template <class T>
  static std::vector<T> some(std::vector<T> all, std::size_t step = 3) {
    if (!slow()) return all;
    std::vector<T> kept;
    for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
    if (step < all.size() && (all.size() - 1) % step != 0) kept.push_back(all.back());
    return kept;
  }

  std::string name() const {
    return backend + "_" + (isa.empty() ? "" : isa + "_") + std::string(traits(precision).name) +
           (ranks > 1 ? "_" + std::to_string(ranks) + "ranks" : "");
  }
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
    // what is done between ranks is the same for every instruction set; where there are none to choose from a pass takes long
    for (const int ranks :
         Case::slow() || (!sets.empty() && sets.front().empty()) ? std::vector<int>{2} : std::vector<int>{2, 3, 5})
      for (const Precision precision : Case::slow() ? std::vector<Precision>{precisions.front()} : precisions)
        if (!sets.empty()) cases.push_back({backend, sets.front(), precision, ranks});
  }
  return cases;
}

}  // namespace fd::test
