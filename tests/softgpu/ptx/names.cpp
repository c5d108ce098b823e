#include "ptx/names.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace softgpu {

u64 number(const std::string& text) {
  if (text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1])) return std::stoull(text.substr(2), nullptr, 16);
  const bool minus = !text.empty() && text[0] == '-';
  std::size_t used = 0;
  const std::string digits = text.substr(minus);
  if (digits.empty() || !std::isdigit(static_cast<unsigned char>(digits[0]))) throw std::invalid_argument("not a number");
  const u64 v = std::stoull(digits, &used, 0);
  if (used != digits.size() && digits.substr(used) != "U") throw std::invalid_argument("not a number");
  return minus ? 0 - v : v;
}

void Names::open(Function& f) {
  f_ = &f;
  scopes_.assign(1, {});
  slots_.assign(1, {});
  own_shared_.clear(), shared_offsets_.clear(), locals_.clear(), dynamic_.clear();
  shared_ = 0;
}

void Names::close() {
  f_->static_shared = (shared_ + 15) / 16 * 16;
  for (const Operand& o : dynamic_)  // the dynamic part begins behind the static one
    for (int l = 0; l < Lanes; ++l) {
      const u64 v = f_->static_shared;
      std::memcpy(&module_.constants[o.offset + l * o.width], &v, o.width);
    }
  f_ = nullptr;
}

Names::Declared Names::declared(const std::string& text) const {
  Declared d;
  const auto equals = text.find('=');
  std::string left = trimmed(text.substr(0, equals));
  if (equals != std::string::npos) d.value = trimmed(text.substr(equals + 1));
  if (const auto open = left.find('['); open != std::string::npos) {
    const std::string inside = trimmed(left.substr(open + 1, left.find(']') - open - 1));
    d.open = inside.empty();
    d.count = d.open ? 0 : number(inside);
    left = trimmed(left.substr(0, open));
  }
  const std::vector<std::string> w = words(left);
  for (std::size_t i = 0; i + 1 < w.size(); ++i) {
    const std::string type = w[i].substr(1);
    if (w[i] == ".align") d.align = static_cast<u32>(number(w[i + 1]));
    else if (w[i] == ".ptr") break;
    else if (type == "v2" || type == "v4") d.count *= type == "v2" ? 2 : 4;
    else if (width_of(type) > 0) d.element = width_of(type);
    else if (d.space.empty() && (type == "shared" || type == "global" || type == "const" || type == "local" || type == "param"))
      d.space = type;
  }
  d.align = std::max(d.align, static_cast<u32>(d.element));
  d.name = w.empty() ? "" : w.back();
  return d;
}

std::vector<u8> Names::initial_data(const Declared& d) const {
  std::vector<u8> data;
  if (d.value.empty()) return data;
  const bool list = d.value[0] == '{';
  for (const std::string& v : split(list ? d.value.substr(1, d.value.size() - 2) : d.value, ',')) {
    if (v.empty()) continue;
    u64 value = 0;
    try {
      value = number(v);
    } catch (const std::exception&) {
      source_.fail("the value of " + d.name + " is not a number: " + v);
    }
    data.resize(data.size() + d.element);
    std::memcpy(data.data() + data.size() - d.element, &value, d.element);
  }
  return data;
}

void Names::declare_variable(const std::string& text) {
  const Declared d = declared(text);
  const bool inside = f_ != nullptr;
  if (d.space == "shared") {
    (inside ? own_shared_ : module_shared_)[d.name] = {d.align, static_cast<u32>(d.count * d.element), d.open};
  } else if (d.space == "local") {
    u32& bytes = f_->kernel ? f_->local_bytes : module_.function_local;
    bytes = (bytes + d.align - 1) / d.align * d.align;
    locals_[d.name] = bytes + (f_->kernel ? kernel_local : 0);
    bytes += static_cast<u32>(d.count * d.element);
  } else if (d.space == "param") {
    new_slot(text);
  } else if (d.space == "global" || d.space == "const") {
    if (variables_.count(d.name) && !module_.variables[variables_[d.name]].undefined) source_.fail(d.name + " is declared twice");
    Variable v{d.name,         d.align, d.count * d.element, d.space == "const", text.find(".extern") != std::string::npos,
               initial_data(d)};
    if (v.data.size() > v.bytes) source_.fail("more values than " + d.name + " has room for");
    variables_[d.name] = static_cast<u32>(module_.variables.size());
    module_.variables.push_back(std::move(v));
  } else {
    source_.fail("a declaration this machine does not know: " + text);
  }
}

Slot Names::new_slot(const std::string& text) {
  const Declared d = declared(text);
  Slot s{module_.slot_bytes, static_cast<u32>(d.count * d.element)};
  module_.slot_bytes += (s.size + 7) / 8 * 8;
  slots_.back()[d.name] = s;
  return s;
}

const Slot* Names::slot(const std::string& name) const {
  for (auto s = slots_.rbegin(); s != slots_.rend(); ++s)
    if (const auto it = s->find(name); it != s->end()) return &it->second;
  return nullptr;
}

void Names::declare_registers(const std::string& text) {
  const std::vector<std::string> w = words(text);
  const int width = w.size() < 3 ? -1 : width_of(w[1].substr(1));
  if (width < 0) source_.fail("registers of a type this machine does not know: " + text);
  for (const std::string& name : split(text.substr(text.find(w[1]) + w[1].size()), ',')) {
    const auto open = name.find('<');
    if (open == std::string::npos) {
      scopes_.back()[name] = new_register(width);
    } else {
      const u64 count = number(name.substr(open + 1, name.find('>') - open - 1));
      if (count > 1 << 20) source_.fail("too many registers");
      for (u64 i = 0; i < count; ++i) scopes_.back()[name.substr(0, open) + std::to_string(i)] = new_register(width);
    }
  }
}

Operand Names::new_register(int width) {
  if (width == 0) return {f_->predicates++, 0, false, false};
  const u32 bytes = static_cast<u32>(width) * Lanes;
  f_->register_bytes = (f_->register_bytes + bytes - 1) / bytes * bytes;
  const u32 at = f_->register_bytes;
  f_->register_bytes += bytes;
  return {at, static_cast<u8>(width), false, false};
}

Operand Names::constant(u64 value, int width) {
  if (width < 8) value &= (u64(1) << 8 * width) - 1;
  const auto key = std::make_pair(value, width);
  if (const auto it = constants_.find(key); it != constants_.end()) return it->second;
  const u32 bytes = static_cast<u32>(width) * Lanes;
  const u32 at = static_cast<u32>((module_.constants.size() + bytes - 1) / bytes * bytes);
  module_.constants.resize(at + bytes);
  for (int l = 0; l < Lanes; ++l) std::memcpy(&module_.constants[at + l * width], &value, width);
  return constants_[key] = {at, static_cast<u8>(width), true, false};
}

const Operand* Names::find(const std::string& name) const {
  for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
    if (const auto it = s->find(name); it != s->end()) return &it->second;
  return nullptr;
}

std::optional<u32> Names::predicate(const std::string& name) const {
  const Operand* o = find(name);
  if (!o || o->width != 0) return std::nullopt;
  return o->offset;
}

const Parameter* Names::parameter(const std::string& name) const {
  for (const Parameter& p : f_->parameters)
    if (p.name == name) return &p;
  return nullptr;
}

bool Names::is_clock(const std::string& text) const {
  return text == "%clock" || text == "%clock64" || text == "%clock_hi" || text == "%globaltimer" || text == "%globaltimer_lo" ||
         text == "%globaltimer_hi";
}

Operand Names::shared_address(const std::string& name, const Shared& s, int width) {
  if (!f_->kernel) source_.fail("shared memory named in a function that is called: " + name);
  if (s.dynamic) {
    f_->dynamic_shared = true;
    for (const Operand& o : dynamic_)
      if (o.width == width) return o;
    const u32 bytes = static_cast<u32>(width) * Lanes;
    const u32 at = static_cast<u32>((module_.constants.size() + bytes - 1) / bytes * bytes);
    module_.constants.resize(at + bytes);
    dynamic_.push_back({at, static_cast<u8>(width), true, false});
    return dynamic_.back();
  }
  const auto [it, fresh] = shared_offsets_.try_emplace(name, 0);
  if (fresh) {
    shared_ = (shared_ + s.align - 1) / s.align * s.align;
    it->second = shared_;
    shared_ += s.bytes;
  }
  return constant(it->second, width);
}

Operand Names::operand(const std::string& text, int width) {
  if (text.empty()) source_.fail("an operand is missing");
  if (text == "_") return new_register(width);
  if (text[0] == '!') {
    Operand o = operand(text.substr(1), width);
    o.negated = !o.negated;
    return o;
  }
  if (const Operand* o = find(text)) {
    if ((o->width == 0) != (width == 0)) source_.fail(text + (width == 0 ? " is not a predicate" : " is a predicate"));
    return *o;
  }
  if (text[0] == '%') return special(text);
  if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
    u64 value = 0;
    try {
      value = number(text);
    } catch (const std::exception&) {
      source_.fail("not a number: " + text);
    }
    if (width == 0) return {value != 0 ? 1u : 0u, 0, false, false};
    const bool is_float = text.size() == 10 && (text[1] == 'f' || text[1] == 'F'),
               is_double = text.size() == 18 && (text[1] == 'd' || text[1] == 'D');
    return constant(value, is_float ? 4 : is_double ? 8 : width);
  }
  if (const auto it = own_shared_.find(text); it != own_shared_.end()) return shared_address(text, it->second, width);
  if (const auto it = module_shared_.find(text); it != module_shared_.end()) return shared_address(text, it->second, width);
  if (const auto it = locals_.find(text); it != locals_.end()) return constant(it->second, width);
  if (const auto it = variables_.find(text); it != variables_.end()) {
    const auto key = std::make_pair(it->second, width);
    if (const auto known = addresses_.find(key); known != addresses_.end()) return known->second;
    if (width != 8) source_.fail("the address of " + text + " has 8 bytes");
    const u32 at = static_cast<u32>((module_.constants.size() + 255) / 256 * 256);
    module_.constants.resize(at + 256);
    module_.patches.push_back({at, it->second});
    return addresses_[key] = {at, 8, true, false};
  }
  if (const Parameter* p = f_->kernel ? parameter(text) : nullptr) return constant(p->offset, width);
  source_.fail("what is " + text + "?");
}

Operand Names::special(const std::string& name) {
  static const std::unordered_map<std::string, std::pair<Special, int>> table = {
      {"%tid.x", {Special::tid_x, 4}},
      {"%tid.y", {Special::tid_y, 4}},
      {"%tid.z", {Special::tid_z, 4}},
      {"%ctaid.x", {Special::ctaid_x, 4}},
      {"%ctaid.y", {Special::ctaid_y, 4}},
      {"%ctaid.z", {Special::ctaid_z, 4}},
      {"%ntid.x", {Special::ntid_x, 4}},
      {"%ntid.y", {Special::ntid_y, 4}},
      {"%ntid.z", {Special::ntid_z, 4}},
      {"%nctaid.x", {Special::nctaid_x, 4}},
      {"%nctaid.y", {Special::nctaid_y, 4}},
      {"%nctaid.z", {Special::nctaid_z, 4}},
      {"%laneid", {Special::laneid, 4}},
      {"%warpid", {Special::warpid, 4}},
      {"%nwarpid", {Special::nwarpid, 4}},
      {"%smid", {Special::smid, 4}},
      {"%nsmid", {Special::nsmid, 4}},
      {"%gridid", {Special::gridid, 8}},
      {"%lanemask_eq", {Special::lanemask_eq, 4}},
      {"%lanemask_lt", {Special::lanemask_lt, 4}},
      {"%lanemask_le", {Special::lanemask_le, 4}},
      {"%lanemask_gt", {Special::lanemask_gt, 4}},
      {"%lanemask_ge", {Special::lanemask_ge, 4}},
      {"%dynamic_smem_size", {Special::dynamic_smem_size, 4}},
      {"%total_smem_size", {Special::total_smem_size, 4}}};
  const auto it = table.find(name);
  if (it == table.end()) source_.fail("no such register: " + name);
  for (const Preset& p : f_->presets)
    if (p.what == it->second.first) return p.where;
  f_->presets.push_back({it->second.first, new_register(it->second.second)});
  return f_->presets.back().where;
}

}  // namespace softgpu
