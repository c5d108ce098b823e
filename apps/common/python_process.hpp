// A Python process that stays warm: one line of JSON out, one back. Its script first prints one line, {"module": "version" or null, ...}, within a
// minute; lines before it, as modules and conda print them, are passed over.
//
// Guarantees: waiting for an answer honours an interrupt; the process, and what it started, is gone when this object is, also where its making
// is interrupted.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fd::cli {

class PythonProcess {
 public:
  // `python`: which to run. Where it is empty, the first of those on the path and in the usual place that has `modules`; if none has, the
  // last that runs at all. `script`: the words after it.
  PythonProcess(const std::string& python, const std::vector<std::string>& script, int threads,
                const std::vector<std::string>& modules);
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  bool runs() const { return installed_.is_object(); }
  const std::string& failure() const { return failure_; }  // why it does not run, words that follow its name; empty where it does
  bool has(const std::string& module) const;
  std::string version(const std::string& module) const;  // empty where it is missing
  // The answer, or {"error": ...}; also where the process ended without one.
  nlohmann::json ask(const nlohmann::json& request);

 private:
  using Clock = std::chrono::steady_clock;
  PythonProcess() = default;
  bool start(const std::string& python, const std::vector<std::string>& script, int threads);
  void read_installed();
  void end();
  // None: the process has ended, or goes on for too long, without the end of a line.
  std::optional<std::string> read_line(std::optional<Clock::time_point> until = {});

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_, failure_;
  nlohmann::json installed_;
};

}  // namespace fd::cli
