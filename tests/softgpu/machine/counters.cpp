#include "machine/counters.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>

#include "machine/fault.hpp"
#include "ptx/source.hpp"

namespace softgpu {

namespace {

std::mutex& mutex() {
  static std::mutex* m = new std::mutex;
  return *m;
}

std::string text_of(const Module& m, u32 line) { return line && line <= m.lines.size() ? trimmed(m.lines[line - 1]) : ""; }

}  // namespace

void Counters::add(const Counters& o) {
  lines.resize(std::max(lines.size(), o.lines.size()));
  for (std::size_t i = 0; i < o.lines.size(); ++i) {
    Line& a = lines[i];
    const Line& b = o.lines[i];
    a.runs += b.runs, a.lanes += b.lanes, a.wavefronts += b.wavefronts, a.ideal_wavefronts += b.ideal_wavefronts;
    a.sectors += b.sectors, a.ideal_sectors += b.ideal_sectors;
  }
  launches += o.launches, blocks += o.blocks, barriers += o.barriers, seconds += o.seconds;
}

void Ledger::know(std::shared_ptr<const Module> module) {
  const std::lock_guard lock(mutex());
  known_[module.get()] = std::move(module);
}

void Ledger::add(std::shared_ptr<const Module> module, const Function& kernel, const Counters& counters) {
  const std::lock_guard lock(mutex());
  Entry& e = entries_[{kernel.name, module->target}];
  if (e.module && e.module != module) e.counters.lines.clear();  // another text under the same name: lines are those of the last
  e.module = std::move(module);
  e.counters.add(counters);
}

void Ledger::clear() {
  const std::lock_guard lock(mutex());
  entries_.clear(), known_.clear();
}

void Ledger::write_counters(const std::string& path) const {
  const std::lock_guard lock(mutex());
  if (entries_.empty()) return;
  std::ofstream out(path);
  out << "[";
  const char* comma = "\n";
  for (const auto& [key, e] : entries_) {
    u64 by[pipes] = {}, warp = 0, lanes = 0, waves = 0, ideal = 0, sectors = 0, best = 0;
    for (std::size_t k = 0; k < e.counters.lines.size(); ++k) {
      const Counters::Line& c = e.counters.lines[k];
      by[e.module->code[k].pipe] += c.runs, warp += c.runs, lanes += c.lanes;
      waves += c.wavefronts, ideal += c.ideal_wavefronts, sectors += c.sectors, best += c.ideal_sectors;
    }
    out << comma << " {\"kernel\": \"" << key.first << "\", \"sm\": " << key.second << ", \"launches\": " << e.counters.launches
        << ", \"blocks\": " << e.counters.blocks << ", \"barriers\": " << e.counters.barriers
        << ", \"seconds\": " << e.counters.seconds << ",\n  \"warp_instructions\": " << warp
        << ", \"lane_instructions\": " << lanes << ", \"pipes\": {";
    for (int p = 0; p < pipes; ++p) out << (p ? ", " : "") << '"' << pipe_names[p] << "\": " << by[p];
    out << "},\n  \"wavefronts\": " << waves << ", \"ideal_wavefronts\": " << ideal << ", \"sectors\": " << sectors
        << ", \"ideal_sectors\": " << best << ", \"conflicts\": [";
    const char* between = "";
    for (std::size_t k = 0; k < e.counters.lines.size(); ++k) {
      const Counters::Line& c = e.counters.lines[k];
      if (c.wavefronts <= c.ideal_wavefronts) continue;
      out << between << "{\"line\": " << e.module->code[k].line << ", \"wavefronts\": " << c.wavefronts
          << ", \"ideal\": " << c.ideal_wavefronts << "}";
      between = ", ";
    }
    out << "]}";
    comma = ",\n";
  }
  out << "\n]\n";
  if (!out) report("cannot write FD_SOFTGPU_COUNTERS=" + path);
}

// A row an instruction: runs, function, target, line, text; rows of the same function, target, line and text are added up. Several processes may
// end at once: the file is locked meanwhile.
void Ledger::write_coverage(const std::string& path) const {
  const std::lock_guard lock(mutex());
  std::map<std::pair<const Module*, std::size_t>, u64> runs;
  for (const auto& [address, m] : known_)
    for (std::size_t k = 0; k < m->code.size(); ++k) runs[{address, k}] = 0;
  for (const auto& [key, e] : entries_)
    for (std::size_t k = 0; k < e.counters.lines.size(); ++k) runs[{e.module.get(), k}] += e.counters.lines[k].runs;

  std::map<std::string, u64> rows;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (file < 0) return report("cannot write FD_SOFTGPU_COVERAGE=" + path);
  ::flock(file, LOCK_EX);
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      rows[line.substr(tab + 1)] += std::strtoull(line.c_str(), nullptr, 10);
  for (const auto& [key, n] : runs) {
    const Instruction& i = key.first->code[key.second];
    const std::string text = text_of(*key.first, i.line);
    if (!i.run && i.flow != Flow::next && (text.empty() || text[0] == '}')) continue;  // the end that every body gets
    std::ostringstream row;
    row << key.first->around(static_cast<u32>(key.second)).name << "\tsm_" << key.first->target << '\t' << i.line << '\t' << text;
    rows[row.str()] += n;
  }
  std::ofstream out(path);
  for (const auto& [row, n] : rows) out << n << '\t' << row << '\n';
  out.close();
  ::flock(file, LOCK_UN);
  ::close(file);
}

}  // namespace softgpu
