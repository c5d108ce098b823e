// A process of bench/numpy_arpack.py that stays warm: one line of JSON out, one back. Its text is part of this program, so that it runs
// from anywhere.
//
// Guarantees: waiting for an answer honours an interrupt; the process is gone when this object is.
#pragma once

#include <sys/types.h>

#include <string>

#include <nlohmann/json.hpp>

namespace fd::cli {

class PythonPeer {
 public:
  // `python`: which to run. Where it is empty, the first of those on the path and in the usual place that has numpy and SciPy.
  PythonPeer(const std::string& python, int threads);
  ~PythonPeer();
  PythonPeer(const PythonPeer&) = delete;
  PythonPeer& operator=(const PythonPeer&) = delete;

  // Empty where the peer ("numpy" or "sklearn") can be asked; else what is missing and how to get it.
  std::string missing(const std::string& peer) const;
  // The answer, or {"error": ...}; also where the process ended without one.
  nlohmann::json ask(const nlohmann::json& request);

 private:
  bool start(const std::string& python, int threads);
  void end();
  std::string read_line();  // empty: the process has ended

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_;
  nlohmann::json installed_;
};

}  // namespace fd::cli
