// Why the automatic choice did not take a device that is there.
#pragma once

#include <string>

#include <flashdiffusion/error.hpp>

namespace fd {

// Thrown by back-ends of which this machine has no device at all: nobody expects one, and nothing need be said.
class NoDevice : public Error {
 public:
  explicit NoDevice(const std::string& what, std::string hint = {}) : Error(Failure::device, what, std::move(hint)) {}
};

// One line where `wanted` is auto and a device that is there was passed over for the back-end `taken`, else nothing. Tries to make the others again.
std::string passed_over(const std::string& wanted, const std::string& taken);

}  // namespace fd
