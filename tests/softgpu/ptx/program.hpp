// A PTX module after decoding: one list of instructions whose operands are offsets, ready to run on 32 lanes at a time.
//
// Guarantees: a decoded module is never changed, and says nothing of a device; several devices share one. Addresses of module variables are
// left open (`Patch`) and filled into a copy of the constants when the module is loaded somewhere.
// Does not know how an instruction is carried out (`Handler`, opcodes/) nor how warps are run (machine/).
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace softgpu {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
constexpr int Lanes = 32;

struct Warp;
struct Instruction;
using Handler = void (*)(Warp&, const Instruction&, u32 mask);

// How a warp goes on; `next` runs the handler and takes the instruction behind.
enum class Flow : u8 { next, branch, table, call, ret, exit, barrier };

enum Pipe : u8 { alu, fma, fp64, mufu, tensor, shared_memory, global_memory, control, pipes };
extern const char* const pipe_names[pipes];

enum class Space : u8 { generic, global, shared, local, constant, param };

// Where 32 lanes of a value lie: a byte offset into the warp's registers or into the module's constants; of a predicate (width 0) the number
// of its mask. Predicates 0 and 1 are never written: false and true.
struct Operand {
  u32 offset = 0;
  u8 width = 0;
  bool constant = false, negated = false;
};

constexpr u32 nowhere = ~0u;  // paths that part meet again only where their function ends

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::next;
  Space space = Space::generic;
  bool guarded = false, guard_negated = false;
  u8 count = 1;   // registers of a vector
  u8 size = 0;    // bytes of one element in memory
  u8 mode = 0;    // of the handler: rounding, order ...
  u8 pipe = alu;  // for the counters
  u8 sources = 0, results = 0;
  u32 guard = 0;       // predicate
  u32 target = 0;      // instruction; number of a table; number of a call
  u32 meet = nowhere;  // where lanes that part here meet again
  u32 line = 0;        // of the PTX text, from 1
  i32 offset[2] = {};  // of the first and the second address
  Operand d[8], s[16];
};

struct Slot {  // memory of a .param variable of a function, lane after lane
  u32 offset = 0, size = 0;
};
struct Call {
  std::string name;
  u32 function = 0;
  std::vector<Slot> in, out;  // what the caller gives and takes
};

struct Parameter {
  std::string name;
  u32 offset = 0, size = 0;
};

// A register that is set before the first instruction.
enum class Special : u8 {
  tid_x,
  tid_y,
  tid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size
};
struct Preset {
  Special what;
  Operand where;
};

struct Function {  // a kernel, or a function that kernels call
  std::string name;
  bool kernel = false, calls = false, defined = false;
  u32 begin = 0, end = 0;  // instructions
  u32 register_bytes = 0, predicates = 2, local_bytes = 0;
  std::vector<Preset> presets;
  // kernels
  std::vector<Parameter> parameters;
  u32 parameter_bytes = 0, static_shared = 0, max_threads = 0;
  bool dynamic_shared = false;
  // others
  std::vector<Slot> in, out;
};

struct Variable {  // .global or .const, at module scope
  std::string name;
  u32 align = 1;
  u64 bytes = 0;
  bool constant = false, undefined = false;
  std::vector<u8> data;  // zero where it is shorter than `bytes`: such variables begin as zeros
};
struct Patch {  // the address of a variable goes into 32 lanes of a constant
  u32 offset = 0, variable = 0;
};

struct Module {
  int target = 0, version = 0;  // 80; 90 for .version 9.0
  std::vector<Instruction> code;
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<Call> calls;
  std::vector<std::vector<u32>> tables;
  std::vector<u8> constants;  // 32 lanes each
  std::vector<Patch> patches;
  std::vector<std::string> lines;
  u32 function_registers = 0, function_predicates = 0, function_local = 0, slot_bytes = 0;

  const Function* find(const std::string& name) const;
  const Function& around(u32 instruction) const;
};

// Local memory of a kernel itself begins here; functions lie below.
constexpr u32 kernel_local = 1u << 20;

// The text is not PTX, or needs what this machine does not have; says the line.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace softgpu
