// A precision is a promise about the kernel's relative error (the paper's eta), not a data type: a back-end may use any
// arithmetic that keeps it.
#pragma once

#include <string_view>

namespace fd {

enum class Precision { fp64, fp32, tf32, bf16 };

struct PrecisionTraits {
  Precision precision;
  std::string_view name;
  double eta;        // relative error of the arithmetic: what a bandwidth search reckons with
  double row_error;  // promised: of a row of K W, relative to the same row of K |W|
  // sqrt(beta) times the distance from a table's middle up to which that holds whatever the points; beyond, neighbours are refused for whose distance
  // coordinates have too few digits.
  double farthest;
  bool wide_panels;  // panels and points are stored as double (otherwise float)
};

const PrecisionTraits& traits(Precision precision);
Precision precision_from_name(std::string_view name);  // throws Error(misuse) that lists the known names

}  // namespace fd
