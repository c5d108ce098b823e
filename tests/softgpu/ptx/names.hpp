// The names a PTX function sees, and what they stand for: registers by scope, variables by space, special registers, numbers.
//
// Guarantees: every operand it gives out is an offset that stays valid. Equal constants are stored once.
// Does not know opcodes.
#pragma once
#include <optional>
#include <unordered_map>

#include "ptx/source.hpp"

namespace softgpu {

class Names {
 public:
  Names(Source& source, Module& module) : source_(source), module_(module) {}

  void open(Function& f);  // a function's body begins
  void close();            // ... and ends: the size of static shared memory is known now
  void push() { scopes_.emplace_back(), slots_.emplace_back(); }
  void pop() { scopes_.pop_back(), slots_.pop_back(); }
  bool outermost() const { return scopes_.size() == 1; }

  void declare_registers(const std::string& text);  // .reg .b32 %r<422>  |  .reg .b16 l, h
  void declare_variable(
      const std::string& text);  // .shared .align 16 .b8 name[512]  |  .global .u32 counter = 7  |  .local ... | .param ...
  Slot new_slot(const std::string& declaration);  // of a function's .param
  const Slot* slot(const std::string& name) const;

  Operand new_register(int width);
  Operand operand(const std::string& text, int width);
  Operand constant(u64 value, int width);
  std::optional<u32> predicate(const std::string& name) const;
  bool is_clock(const std::string& text) const;
  const Parameter* parameter(const std::string& name) const;

 private:
  struct Shared {
    u32 align = 1, bytes = 0;
    bool dynamic = false;
  };
  struct Declared {
    std::string name, space;
    u32 align = 1;
    int element = 1;
    u64 count = 1;
    bool open = false;  // name[]
    std::string value;
  };
  Declared declared(const std::string& text) const;
  Operand special(const std::string& name);
  Operand shared_address(const std::string& name, const Shared& s, int width);
  std::vector<u8> initial_data(const Declared& d) const;
  const Operand* find(const std::string& name) const;

  Source& source_;
  Module& module_;
  Function* f_ = nullptr;
  u32 shared_ = 0;
  std::vector<std::unordered_map<std::string, Operand>> scopes_;
  std::vector<std::unordered_map<std::string, Slot>> slots_;
  std::map<std::pair<u64, int>, Operand> constants_;
  std::unordered_map<std::string, Shared> module_shared_, own_shared_;
  std::unordered_map<std::string, u32> shared_offsets_, locals_, variables_;
  std::map<std::pair<u32, int>, Operand> addresses_;  // of variables
  std::vector<Operand> dynamic_;                      // constants that hold the begin of dynamic shared memory
};

u64 number(const std::string& text);  // 12, -3, 0x1f, 0f3f800000, 0d..., 5U; throws std::invalid_argument

}  // namespace softgpu
