// One instruction's text to its decoded form: guard, opcode, operands by the shape of its row in opcodes/table.hpp.
//
// Labels and callees are left as names (`Decoded::label`, `Decoded::call`): they may come later in the text.
#pragma once
#include "ptx/names.hpp"

namespace softgpu {

struct Decoded {
  Instruction instruction;
  std::string label;  // of a branch, or of a table of them
  std::string callee;
  std::vector<std::string> given, taken;  // arguments and results of a call
};

Decoded decode(const std::string& text, Names& names, Source& source, const Function& function);

}  // namespace softgpu
