// What a back-end promises, asked of one that is here: kernel products, masses and tall-block verbs against the naive reference, on points that are made
// for it (odd sizes, few and many coordinates and columns, groups far apart, a common offset, equal rows). It is the short form of tests/contract/, for a
// machine that no test has seen.
#pragma once

#include <string>

#include "device/backend.hpp"

namespace fd::cli {

struct Verdict {
  double error = 0;       // of kernel products, largest: |y - y_ref| of a row as a share of the same row of K |W|
  double share = 0;       // of what is promised, largest over all checks
  std::string worst;      // the check that it was
  bool same_bits = true;  // as `again`
  bool good() const { return share <= 1 && same_bits; }
};

// `again`: the same back-end, made anew for another number of threads.
Verdict check_contract(Backend& tested, Backend& again, Backend& reference, Precision precision);

}  // namespace fd::cli
