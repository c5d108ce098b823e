// Checks of words on the command line that CLI11 does not make: it would wrap a negative number of modes, and let a result
// replace the file it was computed from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fd::cli {

// For CLI11's check(): empty, or what is wrong.
std::string whole_number(const std::string& word);
std::string positive_whole_number(const std::string& word);
std::string real_number(const std::string& word);
std::string positive_number(const std::string& word);
std::string non_negative_number(const std::string& word);

// The number itself; Error(misuse) where no machine has so many.
int checked_threads(std::size_t threads);

// Error(misuse) where an output that must be a file is given as "-"; `what` it holds, in words.
void refuse_standard_output(const char* option, const std::string& path, const char* what);

// What a verb writes: an option, or the thing in words, and the file.
struct Output {
  const char* what;
  std::string path;  // empty: not written; - is standard output
};

// Throws Error(misuse) where two of them would be written to one file, be it through links: the second would replace the first.
void refuse_one_file(const std::vector<Output>& outputs);

// Throws Error(misuse) where `output` is one of `inputs` ("file" or "file:part").
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs, const char* option = "--output");

}  // namespace fd::cli
