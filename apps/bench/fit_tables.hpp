// The fixed set of tables that fits are timed on: manifolds with noise, from 2 to 5,000 columns, one of them of zeros and ones. The same
// on every machine; each with a bandwidth that resolves it at a few thousand rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd::cli {

struct FitTable {
  const char* name;
  std::size_t columns;
  std::size_t angles;  // dimension of the manifold
  bool binary;         // zeros and ones
  double beta;
};

const std::vector<FitTable>& fit_tables();
// A name of the set; Error(misuse) for another.
const FitTable& fit_table(const std::string& name);

// In float32.
Table made(const FitTable& table, std::size_t rows);

}  // namespace fd::cli
