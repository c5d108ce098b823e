#include "ptx/decode.hpp"

#include "opcodes/table.hpp"

namespace softgpu {

namespace {

std::string inside(const std::string& s) { return trimmed(s.substr(1, s.size() - 2)); }

class Decoder {
 public:
  Decoder(Decoded& out, Names& names, Source& source, const Function& f)
      : out_(out), i_(out.instruction), names_(names), source_(source), f_(f) {}

  void run(std::string text) {
    opcode_.text = text;
    if (text[0] == '@') text = guard(text);
    const auto space = text.find_first_of(" \t\r\n{[(");
    std::string op = text.substr(0, space);
    for (auto p = op.find("::"); p != std::string::npos; p = op.find("::")) op.replace(p, 2, "_");
    opcode_.parts = split(op, '.');
    if (space != std::string::npos)
      for (const std::string& a : split(text.substr(space), ',')) opcode_.arguments.push_back(a);
    if (opcode_.arguments.size() == 1 && opcode_.arguments[0].empty()) opcode_.arguments.clear();
    if (!control()) ordinary();
  }

 private:
  std::string guard(const std::string& text) {
    const auto space = text.find_first_of(" \t");
    if (space == std::string::npos) source_.fail("an instruction is missing");
    i_.guard_negated = text[1] == '!';
    const std::string name = text.substr(i_.guard_negated ? 2 : 1, space - (i_.guard_negated ? 2 : 1));
    const auto p = names_.predicate(name);
    if (!p) source_.fail("no such predicate: " + name);
    i_.guarded = true, i_.guard = *p;
    return trimmed(text.substr(space));
  }

  const std::string& argument(std::size_t n) const {
    if (n >= opcode_.arguments.size()) source_.fail("an operand is missing: " + opcode_.text);
    return opcode_.arguments[n];
  }

  bool control() {
    const std::string& name = opcode_.name();
    i_.pipe = softgpu::control;
    if (name == "bra") {
      i_.flow = Flow::branch, out_.label = argument(0);
    } else if (name == "brx") {
      i_.flow = Flow::table, out_.label = argument(1);
      i_.s[0] = names_.operand(argument(0), 4);
    } else if (name == "ret" || name == "exit") {
      i_.flow = name == "ret" && !f_.kernel ? Flow::ret : Flow::exit;
    } else if (name == "trap") {
      return false;
    } else if (name == "call") {
      call();
    } else if ((name == "bar" || name == "barrier") && !opcode_.has("warp")) {
      barrier();
    } else {
      return false;
    }
    return true;
  }

  void call() {  // call.uni (result), name, (arguments), prototype
    i_.flow = Flow::call;
    std::size_t n = 0;
    if (argument(0)[0] == '(')
      for (const std::string& r : split(inside(argument(n++)), ',')) out_.taken.push_back(r);
    out_.callee = argument(n++);
    if (out_.callee[0] == '%') source_.fail("calls through a pointer are not known: " + opcode_.text);
    if (n < opcode_.arguments.size() && argument(n)[0] == '(' && argument(n).size() > 2)
      for (const std::string& a : split(inside(argument(n)), ',')) out_.given.push_back(a);
  }

  // bar.sync a{, b} | bar.arrive a, b | bar.red.op d, a{, b}, {!}c. Kept as: s[0] barrier, s[1] threads (if count is 2), s[2] predicate.
  void barrier() {
    i_.flow = Flow::barrier, i_.count = 1;
    i_.mode = opcode_.has("arrive") ? 'a' : opcode_.has("popc") ? 'c' : opcode_.has("and") ? '&' : opcode_.has("or") ? '|' : 's';
    std::size_t n = 0, end = opcode_.arguments.size();
    if (opcode_.has("red")) {
      i_.d[0] = names_.operand(argument(n++), i_.mode == 'c' ? 4 : 0);
      i_.s[2] = names_.operand(argument(--end), 0);
    }
    i_.s[0] = names_.operand(argument(n++), 4);
    if (n < end) i_.s[1] = names_.operand(argument(n), 4), i_.count = 2;
    if (i_.mode == 'a' && i_.count == 1) source_.fail("bar.arrive needs a number of threads");
  }

  int width(char shape) {
    const auto of = [&](const std::string& t) {
      const int w = width_of(t);
      if (w < 0) source_.fail("an instruction this machine does not know: " + opcode_.text);
      return w;
    };
    const std::vector<std::string>& parts = opcode_.parts;
    switch (shape) {
      case '4': return 4;
      case '8': return 8;
      case 'p':
      case 'q': return 0;
      case 'w': return 2 * of(opcode_.type());
      case 'D': return of(parts.size() < 2 ? "" : parts[parts.size() - 2]);
      case 'a': return i_.space == Space::shared && opcode_.name() != "cp" ? 4 : 8;
      default: return of(opcode_.type());
    }
  }

  void address(const std::string& text) {
    if (text.size() < 3 || text[0] != '[' || text.back() != ']') source_.fail("an address [...] was expected: " + opcode_.text);
    const std::string in = inside(text);
    const auto plus = in.find('+');
    const std::string base = trimmed(in.substr(0, plus));
    i64 offset = 0;
    try {
      if (plus != std::string::npos) offset = static_cast<i64>(number(trimmed(in.substr(plus + 1))));
    } catch (const std::exception&) {
      source_.fail("not a number: " + in);
    }
    i_.offset[addresses_++] = static_cast<i32>(offset);
    if (i_.space == Space::param) {
      if (const Slot* s = names_.slot(base)) {  // of a function: memory of each lane
        i_.target = s->offset, i_.mode = static_cast<u8>(i_.mode | 2);
        if (offset < 0 || offset + i_.size * i_.count > static_cast<i64>(s->size))
          source_.fail("outside of " + base + ": " + opcode_.text);
        i_.s[i_.sources++] = names_.constant(s->size, 8);
        return;
      }
    }
    i_.s[i_.sources++] = names_.operand(base, width('a'));
  }

  void value(const std::string& text, char shape, bool result) {
    Operand o = names_.operand(text, width(shape));
    if (result && o.constant) source_.fail("a result cannot be a constant: " + opcode_.text);
    if (result ? i_.results >= 8 : i_.sources >= 16) source_.fail("too many operands: " + opcode_.text);
    if (result) i_.d[i_.results++] = o;
    else i_.s[i_.sources++] = o;
  }

  void ordinary() {
    if (opcode_.name() == "mov" && opcode_.arguments.size() == 2 &&
        names_.is_clock(opcode_.arguments[1])) {  // changes from read to read: an opcode of its own
      const std::string type = opcode_.type();
      opcode_.parts = {"clock", opcode_.arguments[1].substr(1, 11), type};
      opcode_.arguments.pop_back();
    }
    const Row* row = find_row(opcode_);
    if (!row) source_.fail("an instruction this machine does not know: " + opcode_.text);
    i_.pipe = row->pipe;
    if (opcode_.has("shared") || opcode_.has("shared_cta")) i_.space = Space::shared;
    else if (opcode_.has("global")) i_.space = Space::global;
    else if (opcode_.has("local")) i_.space = Space::local;
    else if (opcode_.has("const")) i_.space = Space::constant;
    else if (opcode_.has("param") || opcode_.has("param_entry") || opcode_.has("param_func")) i_.space = Space::param;
    if (const int w = width_of(opcode_.type()); w > 0) i_.size = static_cast<u8>(w);
    for (const auto& [suffix, n] : {std::pair{"v2", 2}, {"v4", 4}, {"v8", 8}, {"x2", 2}, {"x4", 4}})
      if (opcode_.has(suffix)) i_.count = static_cast<u8>(n);
    std::size_t n = 0;
    bool result = true, optional = false;
    for (const char* c = row->shape; *c; ++c) {
      if (*c == ':' || *c == '?') {
        (*c == ':' ? result : optional) = *c == '?';
        continue;
      }
      if (n >= opcode_.arguments.size() && optional) break;
      const std::string& a = argument(n++);
      if (*c == 'a') {
        address(a);
      } else if (*c == 'v' && a[0] == '{') {
        for (const std::string& e : split(inside(a), ',')) value(e, 't', result);
      } else if (*c == 'q' && a.find('|') != std::string::npos) {
        value(trimmed(a.substr(0, a.find('|'))), 'p', result);
        value(trimmed(a.substr(a.find('|') + 1)), 'p', result);
      } else if (*c == '4' && result && a.find('|') != std::string::npos) {  // shfl, match: a value and a predicate
        value(trimmed(a.substr(0, a.find('|'))), '4', result);
        value(trimmed(a.substr(a.find('|') + 1)), 'p', result);
      } else {
        value(a, *c == 'v' ? 't' : *c, result);
      }
    }
    if (n < opcode_.arguments.size()) source_.fail("too many operands: " + opcode_.text);
    i_.run = row->choose(i_, opcode_);
    if (!i_.run) source_.fail("a form of " + opcode_.name() + " this machine does not know: " + opcode_.text);
  }

  Decoded& out_;
  Instruction& i_;
  Names& names_;
  Source& source_;
  const Function& f_;
  Opcode opcode_;
  int addresses_ = 0;
};

}  // namespace

Decoded decode(const std::string& text, Names& names, Source& source, const Function& function) {
  Decoded out;
  Decoder(out, names, source, function).run(text);
  return out;
}

}  // namespace softgpu
