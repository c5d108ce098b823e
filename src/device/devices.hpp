// The devices that a back-end can choose from, as it would be told by BackendRequest::devices: also those that it would refuse.
#pragma once

#include <string>
#include <vector>

namespace fd {

struct DeviceFacts {
  int number = 0;
  std::string name;    // as its driver calls it
  int capability = 0;  // 80, 90, … as NVIDIA counts them
  int multiprocessors = 0;
  double hertz = 0;  // of a multiprocessor, at most; 0: not known
};

// Empty where the back-end has none to choose from; throws as make_backend does where this machine has none.
std::vector<DeviceFacts> devices_of(const std::string& backend);

}  // namespace fd
