// The middle value, the upper one of two. At least one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fd {

template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fd
