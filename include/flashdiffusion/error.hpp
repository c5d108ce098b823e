// What a caller catches. Misuse, bad input, I/O and device failures throw fd::Error; numerical outcomes ("not converged")
// are fields of results and never exceptions. what() says what was wrong and where; hint() says what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fd {

enum class Failure {
  misuse,       // an option or argument that cannot be honoured
  input,        // data that cannot be used: NaN, ragged rows, a lying header
  io,           // a file or stream that could not be read or written
  memory,       // not enough of it
  device,       // a back-end or instruction set that is not there
  interrupted,  // an Observer asked to stop
};

class Error : public std::runtime_error {
 public:
  Error(Failure kind, const std::string& what, std::string hint = {})
      : std::runtime_error(what), kind_(kind), hint_(std::move(hint)) {}

  Failure kind() const noexcept { return kind_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  Failure kind_;
  std::string hint_;
};

}  // namespace fd
