// bench/numpy_arpack.py in a warm process. Its text is part of this program, so that it runs from anywhere.
#pragma once

#include <string>

#include "common/python_process.hpp"

namespace fd::cli {

class PythonPeer {
 public:
  PythonPeer(const std::string& python, int threads);
  // Empty where the peer ("numpy" or "sklearn") can be asked; else what is missing and how to get it.
  std::string missing(const std::string& peer) const;
  nlohmann::json ask(const nlohmann::json& request) { return process_.ask(request); }

 private:
  PythonProcess process_;
};

}  // namespace fd::cli
