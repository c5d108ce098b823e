// A Python process that stays warm: one line of JSON out, one back. Its script first prints one line, {"module": "version" or null, ...}.
//
// Guarantees: waiting for an answer honours an interrupt; the process, and what it started, is gone when this object is.
#pragma once

#include <sys/types.h>

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
  bool has(const std::string& module) const;
  std::string version(const std::string& module) const;  // empty where it is missing
  // The answer, or {"error": ...}; also where the process ended without one.
  nlohmann::json ask(const nlohmann::json& request);

 private:
  bool start(const std::string& python, const std::vector<std::string>& script, int threads);
  void end();
  std::string read_line();  // empty: the process has ended

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_;
  nlohmann::json installed_;
};

}  // namespace fd::cli
