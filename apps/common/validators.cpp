#include "common/validators.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/team.hpp"
#include "io/atomic_file.hpp"

namespace fd::cli {

std::string whole_number(const std::string& word) {
  const bool digits =
      !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits) return word + " is not a whole number of zero or more";
  errno = 0;
  std::strtoull(word.c_str(), nullptr, 10);
  return errno == ERANGE ? word + " is too large" : "";
}

std::string positive_whole_number(const std::string& word) {
  const std::string wrong = whole_number(word);
  const bool digits = wrong.empty() || wrong.ends_with("too large");
  if (!digits) return word + " is not a whole number of one or more";
  return word.find_first_not_of('0') == std::string::npos ? word + ": must be one or more" : wrong;
}

std::string real_number(const std::string& word) {
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' ? "" : word + " is not a number";
}

std::string positive_number(const std::string& word) {
  const std::string wrong = real_number(word);
  return !wrong.empty() || std::strtod(word.c_str(), nullptr) > 0 ? wrong : word + " is not a number above zero";
}

std::string non_negative_number(const std::string& word) {
  const std::string wrong = real_number(word);
  return !wrong.empty() || std::strtod(word.c_str(), nullptr) >= 0 ? wrong : word + " is not a number of zero or more";
}

int checked_threads(std::size_t threads) {
  constexpr auto most = static_cast<std::size_t>(Team::most_threads);
  if (threads > most) throw Error(Failure::misuse, fmt::format("--threads {}: at most {}", threads, most), "0 uses all cores");
  return static_cast<int>(threads);
}

void refuse_standard_output(const char* option, const std::string& path, const char* what) {
  if (path == "-")
    throw Error(Failure::misuse, fmt::format("{} -: {} is not written to standard output", option, what),
                "name a file; ./- is one called '-'");
}

void refuse_one_file(const std::vector<Output>& outputs) {
  const auto a_file = [](const Output& output) { return !output.path.empty() && output.path != "-"; };
  for (auto second = outputs.begin(); second != outputs.end(); ++second)
    for (auto first = outputs.begin(); first != second; ++first)
      if (a_file(*first) && a_file(*second) && same_output(first->path, second->path))
        throw Error(Failure::misuse,
                    fmt::format("{} {} and {} {} are one file", first->what, first->path, second->what, second->path),
                    "name another file");
}

void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs, const char* option) {
  for (const std::string& input : inputs)
    for (std::size_t colon = input.find(':');; colon = input.find(':', colon + 1)) {
      std::error_code missing;  // a file that does not exist is not the same as any other
      if (std::filesystem::equivalent(output, input.substr(0, colon), missing))
        throw Error(Failure::misuse, fmt::format("{} {} would replace the input {}", option, output, input), "name another file");
      if (colon == std::string::npos) break;
    }
}

}  // namespace fd::cli
