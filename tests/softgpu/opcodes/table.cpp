#include "opcodes/table.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace softgpu {

const char* const pipe_names[pipes] = {"alu", "fma", "fp64", "mufu", "tensor", "shared", "global", "control"};

bool Opcode::has(const char* suffix) const { return std::find(parts.begin() + 1, parts.end(), suffix) != parts.end(); }

namespace {

using Table = std::unordered_map<std::string, std::vector<const Row*>>;

Table build() {
  Table table;
  const auto add = [&](const std::vector<Row>& rows) {
    for (const Row& r : rows) table[r.name].push_back(&r);
  };
  add(rounded_rows());
  bool wide = false;
#ifdef FD_SOFTGPU_AVX2
  wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) {
    for (auto* rows : {avx2::integer_rows, avx2::real_rows, avx2::choice_rows, avx2::conversion_rows, avx2::matrix_rows})
      add(rows());
  }
#endif
  if (!wide) {
    for (auto* rows :
         {baseline::integer_rows, baseline::real_rows, baseline::choice_rows, baseline::conversion_rows, baseline::matrix_rows})
      add(rows());
  }
  for (auto* rows : {memory_rows, atomic_rows, warp_rows}) add(rows());
  return table;
}

}  // namespace

const Row* find_row(const Opcode& opcode) {
  static const Table table = build();
  const auto it = table.find(opcode.name());
  if (it == table.end()) return nullptr;
  for (const Row* row : it->second) {
    std::istringstream needs(row->needs);
    std::string suffix;
    bool all = true;
    while (needs >> suffix) all = all && opcode.has(suffix.c_str());
    if (all) return row;
  }
  return nullptr;
}

}  // namespace softgpu
