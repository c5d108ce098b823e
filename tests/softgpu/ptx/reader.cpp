#include "ptx/reader.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "ptx/decode.hpp"
#include "ptx/flow.hpp"

namespace softgpu {

const Function* Module::find(const std::string& name) const {
  for (const Function& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

const Function& Module::around(u32 instruction) const {
  for (const Function& f : functions)
    if (instruction >= f.begin && instruction < f.end) return f;
  return functions.front();
}

namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : source_(text), module_(std::make_unique<Module>()), names_(source_, *module_) {}

  std::unique_ptr<Module> run() try {
    module_->lines = source_.lines();
    std::string linking;
    while (source_.more()) {
      const std::string word = source_.peek_word();
      if (word == ".version") {
        version(source_.to_newline());
      } else if (word == ".target") {
        target(source_.to_newline());
      } else if (word == ".address_size" || word == ".file" || word == ".loc") {
        source_.to_newline();
      } else if (word == ".section") {
        source_.skip_braces();
      } else if (word == ".visible" || word == ".weak" || word == ".extern" || word == ".common") {
        source_.take_word();
        linking = word;
        continue;
      } else if (word == ".entry" || word == ".func") {
        source_.take_word();
        function(word == ".entry");
      } else if (word == ".shared" || word == ".global" || word == ".const") {
        names_.declare_variable((linking == ".extern" ? ".extern " : "") + source_.until(';'));
      } else if (word == ".pragma" || word == ".alias") {
        source_.until(';');
      } else {
        source_.fail(module_->version ? "not a PTX directive: " + word : "this is not PTX: it should begin with .version");
      }
      linking.clear();
    }
    if (!module_->version) source_.fail("this is not PTX: it should begin with .version");
    finish();
    return std::move(module_);
  } catch (const std::logic_error& e) {  // a number that is none, or too large
    source_.fail(std::string("not understood (") + e.what() + ")");
  }

 private:
  struct Reference {  // from an instruction to a name
    std::size_t at;
    std::string name;
    u32 line;
  };

  void version(const std::string& text) {
    const std::string v = trimmed(text.substr(8));
    const auto dot = v.find('.');
    try {
      module_->version = std::stoi(v) * 10 + (dot == std::string::npos ? 0 : std::stoi(v.substr(dot + 1)));
    } catch (const std::exception&) {
      source_.fail("no version: " + text);
    }
  }

  void target(const std::string& text) {
    const auto at = text.find("sm_");
    if (at == std::string::npos) source_.fail("no target: " + text);
    module_->target = std::atoi(text.c_str() + at + 3);
  }

  void function(bool kernel) {
    Function f;
    f.kernel = kernel;
    names_.open(f);
    const auto slots = [&](std::vector<Slot>& into) {
      source_.take();
      for (const std::string& p : split(source_.until(')'), ','))
        if (!p.empty()) into.push_back(names_.new_slot(p));
    };
    source_.more();
    if (!kernel && source_.peek() == '(') slots(f.out);
    source_.more();
    f.name = source_.take_word();
    if (kernel) {
      if (source_.peek() == '(') parameters(f);
    } else if (source_.peek() == '(') {
      slots(f.in);
    }
    for (source_.more(); source_.peek() == '.'; source_.more()) {
      const std::string d = source_.take_word();
      if (d == ".maxntid" || d == ".reqntid") threads(f, source_.to_newline());
      else if (d != ".noreturn") source_.to_newline();
    }
    f.begin = f.end = static_cast<u32>(module_->code.size());
    if (source_.peek() == ';') {  // declared; defined further down, or never
      source_.take();
      names_.close();
      return;
    }
    if (source_.peek() != '{') source_.fail("a body { ... } was expected");
    source_.take();
    f.defined = true;
    body(f);
    names_.close();
    module_->functions.push_back(std::move(f));
  }

  void threads(Function& f, const std::string& text) {
    f.max_threads = 1;
    for (const std::string& n : split(text, ',')) f.max_threads *= static_cast<u32>(std::max(1, std::atoi(n.c_str())));
  }

  void parameters(Function& f) {
    source_.take();
    for (const std::string& p : split(source_.until(')'), ',')) {
      if (p.empty()) continue;
      u32 size = 0, align = 0;
      const std::vector<std::string> w = words(p);
      std::string name = w.back();
      for (std::size_t i = 0; i + 1 < w.size(); ++i) {
        if (w[i] == ".ptr") break;
        if (w[i] == ".align") align = static_cast<u32>(std::atoi(w[i + 1].c_str()));
        if (const int width = width_of(w[i].substr(1)); width > 0) size = static_cast<u32>(width);
      }
      if (size == 0) source_.fail("a parameter of a type this machine does not know: " + p);
      align = std::max(align, size);
      if (const auto open = name.find('['); open != std::string::npos) {
        size *= static_cast<u32>(std::atoi(name.c_str() + open + 1));
        name.resize(open);
      }
      f.parameter_bytes = (f.parameter_bytes + align - 1) / align * align;
      f.parameters.push_back({name, f.parameter_bytes, size});
      f.parameter_bytes += size;
    }
  }

  void body(Function& f) {
    std::unordered_map<std::string, u32> labels, tables;
    std::vector<Reference> jumps, indirect;
    std::vector<std::vector<std::string>> table_names;
    for (int depth = 1; depth > 0;) {
      if (!source_.more()) source_.fail("the text ends inside of " + f.name);
      const char c = source_.peek();
      const u32 line = source_.line();
      if (c == '{') {
        source_.take(), names_.push(), ++depth;
      } else if (c == '}') {
        source_.take(), --depth;
        if (depth > 0) names_.pop();
      } else if (c == '.') {
        declaration();
      } else if (const std::string label = source_.label(); !label.empty()) {
        source_.more();
        if (source_.peek_word() == ".branchtargets") {
          tables[label] = static_cast<u32>(table_names.size());
          table_names.push_back(split(source_.until(';').substr(14), ','));
        } else if (source_.peek_word() == ".callprototype") {
          source_.until(';');
        } else if (!labels.emplace(label, static_cast<u32>(module_->code.size())).second) {
          source_.fail("label " + label + " occurs twice");
        }
      } else {
        const std::string text = trimmed(source_.until(';'));
        if (text.empty()) continue;
        Decoded d = decode(text, names_, source_, f);
        d.instruction.line = line;
        if (d.instruction.flow == Flow::call) call(f, d);
        if (!d.label.empty())
          (d.instruction.flow == Flow::table ? indirect : jumps).push_back({module_->code.size(), d.label, line});
        module_->code.push_back(d.instruction);
      }
    }
    Instruction end;  // a body that does not say so ends all the same
    end.flow = f.kernel ? Flow::exit : Flow::ret, end.pipe = control, end.line = source_.line();
    module_->code.push_back(end);
    f.end = static_cast<u32>(module_->code.size());

    const auto find = [&](const std::string& label, u32 line) {
      const auto it = labels.find(label);
      if (it == labels.end()) source_.fail_at(line, "no label " + label);
      return it->second;
    };
    for (const Reference& j : jumps) module_->code[j.at].target = find(j.name, j.line);
    for (const Reference& j : indirect) {
      const auto it = tables.find(j.name);
      if (it == tables.end()) source_.fail_at(j.line, "no table " + j.name);
      std::vector<u32> targets;
      for (const std::string& label : table_names[it->second]) targets.push_back(find(label, j.line));
      module_->code[j.at].target = static_cast<u32>(module_->tables.size());
      module_->tables.push_back(std::move(targets));
    }
    find_meeting_points(*module_, f);
  }

  void declaration() {
    const std::string word = source_.peek_word();
    if (word == ".loc") {
      source_.to_newline();
      return;
    }
    const std::string s = source_.until(';');
    if (word == ".reg") names_.declare_registers(s);
    else if (word == ".shared" || word == ".local" || word == ".param") names_.declare_variable(s);
    else if (word != ".pragma") source_.fail("a directive this machine does not know: " + trimmed(s));
  }

  void call(Function& f, Decoded& d) {
    Call c{d.callee, 0, {}, {}};
    for (const auto* list : {&d.given, &d.taken})
      for (const std::string& name : *list) {
        const Slot* s = names_.slot(name);
        if (!s) source_.fail("no .param variable " + name);
        (list == &d.given ? c.in : c.out).push_back(*s);
      }
    f.calls = true;
    call_lines_.push_back(source_.line());
    d.instruction.target = static_cast<u32>(module_->calls.size());
    module_->calls.push_back(std::move(c));
  }

  // Functions that are called have registers of their own behind those of any kernel, so that a call moves none.
  void finish() {
    u32 registers = 0, predicates = 2;
    for (const Function& f : module_->functions)
      if (f.kernel && f.calls) registers = std::max(registers, f.register_bytes), predicates = std::max(predicates, f.predicates);
    for (Function& f : module_->functions) {
      if (f.kernel) continue;
      const u32 base = (registers + 255) / 256 * 256, first = predicates;
      const auto move = [&](Operand& o) {
        if (o.constant) return;
        if (o.width) o.offset += base;
        else if (o.offset >= 2) o.offset += first - 2;
      };
      for (u32 i = f.begin; i < f.end; ++i) {
        Instruction& x = module_->code[i];
        for (Operand& o : x.d) move(o);
        for (Operand& o : x.s) move(o);
        if (x.guarded && x.guard >= 2) x.guard += first - 2;
      }
      for (Preset& p : f.presets) move(p.where);
      registers = base + f.register_bytes, predicates = first + f.predicates - 2;
    }
    module_->function_registers = registers, module_->function_predicates = predicates;
    for (std::size_t k = 0; k < module_->calls.size(); ++k) {
      Call& c = module_->calls[k];
      const Function* f = module_->find(c.name);
      if (!f || f->kernel) source_.fail_at(call_lines_[k], "no function " + c.name);
      c.function = static_cast<u32>(f - module_->functions.data());
      const auto fits = [](const std::vector<Slot>& a, const std::vector<Slot>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Slot& x, const Slot& y) { return x.size == y.size; });
      };
      if (!fits(c.in, f->in) || !fits(c.out, f->out))
        source_.fail_at(call_lines_[k], "the arguments do not fit those of " + c.name);
    }
  }

  Source source_;
  std::unique_ptr<Module> module_;
  Names names_;
  std::vector<u32> call_lines_;
};

}  // namespace

std::unique_ptr<Module> read_module(const std::string& text) { return Reader(text).run(); }

}  // namespace softgpu
