// What a target promises of every input. A promise that is broken ends the process, which libFuzzer reports with the input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace fd::fuzz {

inline void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "promise broken: %s\n", promise);
  std::abort();
}

}  // namespace fd::fuzz
