// Modules, functions, launches.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/api.hpp"

namespace softgpu {

int most_shared(int sm);
int resident_blocks(int sm, u32 threads, u64 shared);
int multiprocessor_count();

namespace {

// The newest PTX a driver reads: 12.4 reads 8.4, 13.0 reads 9.0. (12.6 ... 12.9: a version lower or two; not told apart here.)
int ptx_of_driver(int version) { return (version / 1000 - 4) * 10 + version % 1000 / 10; }

std::shared_ptr<LoadedModule> load(Machine& m, Context& c, const std::string& text) {
  auto loaded = std::make_shared<LoadedModule>();
  loaded->module = m.module_of(text);
  const Module& module = *loaded->module;
  for (const Variable& v : module.variables) {
    if (v.undefined) throw Refused("variable " + v.name + " is declared and nowhere defined");
    if (v.bytes == 0) {
      loaded->addresses.push_back(0);
      continue;
    }
    std::vector<u8> data = v.data;
    data.resize(v.bytes);
    loaded->addresses.push_back(m.memory.allocate(c.device, v.bytes, v.align, true));
    m.memory.give_values(loaded->addresses.back(), data.data(), v.bytes);
  }
  loaded->constants = module.constants;
  for (const Patch& p : module.patches)
    for (int l = 0; l < Lanes; ++l)
      std::memcpy(&loaded->constants[p.offset + static_cast<u32>(l) * 8], &loaded->addresses[p.variable], 8);
  return loaded;
}

// `text`, or the file that is to be read in its place: one whose kernels it has, all of them.
std::string replaced(const std::string& text, const std::string& path) {
  if (path.empty()) return text;
  std::ifstream in(path);
  const std::string file((std::istreambuf_iterator<char>(in)), {}), entry = ".entry ";
  if (file.empty()) throw Refused("cannot read FD_SOFTGPU_REPLACE=" + path);
  for (std::size_t at = file.find(entry); at != std::string::npos; at = file.find(entry, at + 1))
    if (text.find(file.substr(at, file.find('(', at) + 1 - at)) == std::string::npos) return text;
  return file;
}

Error load_image(Machine& m, Lock& lock, ModuleHandle** out, const void* image, std::string& log) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (!bytes) return Error::invalid_value;
  if (bytes[0] == 0x7f || bytes[0] == 0x50) {  // ELF, or a fatbin
    log = "this GPU reads PTX, not machine code";
    return Error::no_binary_for_gpu;
  }
  m.quiet(lock, 1u << current->device);
  try {
    const std::string text = replaced(static_cast<const char*>(image), m.environment.replace);
    const std::shared_ptr<const Module> module = m.module_of(text);
    if (module->version > ptx_of_driver(m.environment.driver_version)) {
      log = "PTX version " + std::to_string(module->version / 10) + "." + std::to_string(module->version % 10) +
            " is newer than this driver";
      return Error::unsupported_ptx_version;
    }
    if (module->target > m.environment.sm) {
      log = "PTX for sm_" + std::to_string(module->target) + " does not run on sm_" + std::to_string(m.environment.sm);
      return Error::no_binary_for_gpu;
    }
    auto handle = std::make_unique<ModuleHandle>();
    handle->context = current;
    handle->loaded = load(m, *current, text);
    for (const Function& f : handle->loaded->module->functions)
      if (f.kernel) handle->functions[f.name] = std::make_unique<FunctionHandle>(FunctionHandle{handle.get(), &f});
    m.ledger.know(handle->loaded->module);
    *out = handle.release();
    current->modules.insert(*out);
    return Error::none;
  } catch (const Refused& r) {
    log = r.what();
    report(std::string("cuModuleLoadData: ") + r.what());
    return Error::invalid_ptx;
  }
}

ModuleHandle& known(ModuleHandle* h) {
  if (!current->modules.count(h)) throw Fault(Error::invalid_handle, "a module that is none of the current context's");
  return *h;
}

std::string launch_error(const Machine& m, const FunctionHandle& f, const u32 (&grid)[3], const u32 (&threads)[3], u32 shared) {
  const u64 count = u64(threads[0]) * threads[1] * threads[2];
  if (!grid[0] || !grid[1] || !grid[2] || grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535)
    return "a grid of no such size";
  if (count == 0 || threads[0] > 1024 || threads[1] > 1024 || threads[2] > 64 || count > 1024) return "a block of no such size";
  if (f.kernel->max_threads && count > f.kernel->max_threads)
    return "more threads than the kernel's launch bounds, " + std::to_string(f.kernel->max_threads);
  if (static_cast<int>(shared) > f.dynamic_limit)
    return std::to_string(shared) + " bytes of dynamic shared memory, and " + std::to_string(f.dynamic_limit) +
           " are allowed (cuFuncSetAttribute)";
  if (static_cast<int>(shared + f.kernel->static_shared) > most_shared(m.environment.sm))
    return "more shared memory than a block can have";
  return "";
}

}  // namespace
}  // namespace softgpu

using namespace softgpu;

FD_EXPORT Result cuModuleLoadData(ModuleHandle** out, const void* image) {
  return api("cuModuleLoadData", Needs::context, [=](Machine& m, Lock& lock) {
    std::string log;
    return load_image(m, lock, out, image, log);
  });
}
FD_EXPORT Result cuModuleLoadDataEx(ModuleHandle** out, const void* image, unsigned n, const int* options, void** values) {
  return api("cuModuleLoadDataEx", Needs::context, [=](Machine& m, Lock& lock) {
    std::string log;
    const Error e = load_image(m, lock, out, image, log);
    char* buffer = nullptr;
    std::size_t room = 0;
    for (unsigned k = 0; k < n; ++k) {
      if (options[k] == 5) buffer = static_cast<char*>(values[k]);           // CU_JIT_ERROR_LOG_BUFFER
      if (options[k] == 6) room = reinterpret_cast<std::size_t>(values[k]);  // its size
    }
    if (buffer && room) {
      std::strncpy(buffer, log.c_str(), room - 1);
      buffer[room - 1] = 0;
    }
    return e;
  });
}
FD_EXPORT Result cuModuleUnload(ModuleHandle* h) {
  return api("cuModuleUnload", Needs::broken_too, [=](Machine& m, Lock& lock) {
    known(h);
    m.quiet(lock, 1u << h->context->device);
    DeviceMemory& memory = m.memory.device(h->context->device);
    for (const u64 address : h->loaded->addresses)
      if (const auto it = memory.allocations.find(address); it != memory.allocations.end()) {
        memory.in_use -= it->second.bytes;
        memory.freed[address] = it->second.bytes;
        memory.allocations.erase(it);
      }
    current->modules.erase(h);
    delete h;
    return Error::none;
  });
}
FD_EXPORT Result cuModuleGetFunction(FunctionHandle** f, ModuleHandle* h, const char* name) {
  return api("cuModuleGetFunction", Needs::context, [=](Machine&, Lock&) {
    const auto it = known(h).functions.find(name);
    if (it == h->functions.end()) return Error::not_found;
    *f = it->second.get();
    return Error::none;
  });
}
FD_EXPORT Result cuModuleGetGlobal_v2(DevicePointer* p, std::size_t* bytes, ModuleHandle* h, const char* name) {
  return api("cuModuleGetGlobal", Needs::context, [=](Machine&, Lock&) {
    const LoadedModule& l = *known(h).loaded;
    for (std::size_t k = 0; k < l.addresses.size(); ++k)
      if (l.module->variables[k].name == name) {
        if (p) *p = l.addresses[k];
        if (bytes) *bytes = l.module->variables[k].bytes;
        return Error::none;
      }
    return Error::not_found;
  });
}
FD_ALIAS(Result, cuModuleGetGlobal, cuModuleGetGlobal_v2, DevicePointer*, std::size_t*, ModuleHandle*, const char*);

FD_EXPORT Result cuFuncSetAttribute(FunctionHandle* f, int attribute, int v) {
  return api("cuFuncSetAttribute", Needs::context, [=](Machine& m, Lock&) {
    if (!f) return Error::invalid_handle;
    if (attribute == 9) return Error::none;  // preferred carve-out
    if (attribute != 8) return Error::invalid_value;
    if (v < 0 || v + static_cast<int>(f->kernel->static_shared) > most_shared(m.environment.sm)) return Error::invalid_value;
    f->dynamic_limit = v;
    return Error::none;
  });
}
FD_EXPORT Result cuFuncGetAttribute(int* v, int attribute, FunctionHandle* f) {
  return api("cuFuncGetAttribute", Needs::context, [=](Machine& m, Lock&) {
    if (!f) return Error::invalid_handle;
    const Function& k = *f->kernel;
    switch (attribute) {
      case 0: *v = static_cast<int>(k.max_threads ? k.max_threads : 1024); break;
      case 1: *v = static_cast<int>(k.static_shared); break;
      case 2: *v = 0; break;
      case 3: *v = static_cast<int>(k.local_bytes); break;
      case 4: *v = 64; break;  // registers: ptxas would know
      case 5: *v = f->module->loaded->module->target; break;
      case 6: *v = m.environment.sm; break;
      case 7: *v = 0; break;
      case 8: *v = f->dynamic_limit; break;
      default: return Error::invalid_value;
    }
    return Error::none;
  });
}
FD_EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, FunctionHandle* f, int threads, std::size_t shared) {
  return api("cuOccupancyMaxActiveBlocksPerMultiprocessor", Needs::context, [=](Machine& m, Lock&) {
    if (!f || threads < 1) return Error::invalid_value;
    *n = resident_blocks(m.environment.sm, static_cast<u32>(threads), shared + f->kernel->static_shared);
    return Error::none;
  });
}

FD_EXPORT Result cuLaunchKernel(FunctionHandle* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, Stream* s, void** parameters, void** extra) {
  return api("cuLaunchKernel", Needs::context, [=](Machine& m, Lock& lock) {
    if (!f || extra) return Error::invalid_value;
    if (f->module->context != current || m.stream_of(*current, s).context != current)
      throw Fault(Error::invalid_handle, "the kernel or the stream belongs to another context");
    const u32 grid[3] = {gx, gy, gz}, threads[3] = {bx, by, bz};
    if (const std::string wrong = launch_error(m, *f, grid, threads, shared); !wrong.empty()) {
      report("cuLaunchKernel: " + wrong + "; kernel " + f->kernel->name);
      return Error::invalid_value;
    }
    auto launch = std::make_shared<Launch>();
    launch->memory = &m.memory, launch->loaded = f->module->loaded, launch->kernel = f->kernel;
    launch->device = current->device, launch->capability = m.environment.sm, launch->sms = multiprocessor_count(),
    launch->peers = current->peers;
    std::copy_n(grid, 3, launch->grid), std::copy_n(threads, 3, launch->threads);
    launch->dynamic_shared = shared;
    launch->parameters.resize(f->kernel->parameter_bytes);
    for (std::size_t k = 0; k < f->kernel->parameters.size(); ++k) {
      const Parameter& p = f->kernel->parameters[k];
      std::memcpy(&launch->parameters[p.offset], parameters[k], p.size);
    }
    launch->options = {m.environment.checks, m.environment.seed, m.environment.limit};
    m.push(lock, m.stream_of(*current, s), "kernel " + f->kernel->name, current->peers, true, [=, &m](const Step& step) {
      launch->step = &step;
      launch->options.seed =
          launch->options.seed * 0x9e3779b97f4a7c15ull + (u64(step.actor) << 32 | step.number);  // whatever else runs
      const auto begin = std::chrono::steady_clock::now();
      launch->run();
      launch->counters.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      m.ledger.add(launch->loaded->module, *launch->kernel, launch->counters);
    });
    return Error::none;
  });
}
