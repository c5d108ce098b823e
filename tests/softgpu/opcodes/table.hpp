// Which handler carries out an opcode: rows of name, suffixes, shape of the operands, choice.
//
// An opcode is added by a row in one of the lists below, and a handler that does it to the lanes of a mask. A row is taken if the name is
// equal and all suffixes of `needs` are there; the first of several wins. Shape, results before the colon:
//   t  of the type's width (the last suffix)    D  of the width of the suffix before    w  twice as wide    4, 8  so many bytes
//   p  predicate    q  one predicate or two, p|q    v  {vector} or one    a  [address]    ?  what follows may be missing
#pragma once
#include <string>
#include <vector>

#include "ptx/program.hpp"

namespace softgpu {

struct Opcode {
  std::string text;                // the whole instruction
  std::vector<std::string> parts;  // name and suffixes
  std::vector<std::string> arguments;
  bool has(const char* suffix) const;
  const std::string& name() const { return parts.front(); }
  const std::string& type() const { return parts.back(); }
};

struct Row {
  const char *name, *needs, *shape;
  Pipe pipe;
  Handler (*choose)(Instruction&, const Opcode&);  // null: this form is not known
};

const Row* find_row(const Opcode& opcode);  // null: no such opcode

// The lists. Those of arithmetic are compiled for several instruction sets; `baseline` runs anywhere.
const std::vector<Row>& memory_rows();
const std::vector<Row>& atomic_rows();
const std::vector<Row>& warp_rows();
const std::vector<Row>& rounded_rows();
#define FD_SOFTGPU_ROWS(set)                 \
  namespace set {                            \
  const std::vector<Row>& integer_rows();    \
  const std::vector<Row>& real_rows();       \
  const std::vector<Row>& choice_rows();     \
  const std::vector<Row>& conversion_rows(); \
  const std::vector<Row>& matrix_rows();     \
  }
FD_SOFTGPU_ROWS(baseline)
FD_SOFTGPU_ROWS(avx2)

}  // namespace softgpu
