#include "bench/python_peer.hpp"

#include "bench/numpy_arpack_text.hpp"

namespace fd::cli {

PythonPeer::PythonPeer(const std::string& python, int threads)
    : process_(python, {"-c", numpy_arpack_text}, threads, {"numpy", "scipy"}) {}

std::string PythonPeer::missing(const std::string& peer) const {
  if (!process_.runs()) return "no Python (--python names one): " + process_.failure();
  if (!process_.has("numpy") || !process_.has("scipy")) return "apt install python3-numpy python3-scipy, or --python";
  if (peer == "sklearn" && !process_.has("sklearn")) return "apt install python3-sklearn, or --python";
  return {};
}

}  // namespace fd::cli
