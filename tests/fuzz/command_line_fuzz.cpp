// The command line: words from bytes (a zero ends a word), read by the program itself in an empty folder. Nothing can be opened there, so
// every call ends at the latest when its files are; the verbs that make their own data do nothing here. The exit status is one of
// those the help names.
#include <filesystem>
#include <string>
#include <vector>

#include "fuzzed_file.hpp"

#include "common/exit_status.hpp"

#define main program_main  // the program's own
#include "cli/main.cpp"
#undef main

namespace {

bool only_reads(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word.find('/') != std::string::npos || word == "-" || word == "..") return false;
  if (words.size() < 2 || words[1] != "estimate") return true;
  // two numbers are the size of points to come, and how fast this machine is would be measured
  std::size_t counts = 0;
  for (std::size_t i = 2; i < words.size(); ++i) counts += words[i].find_first_not_of("0123456789") == std::string::npos;
  return counts < 2;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fd::fuzz::Folder folder;
  static const bool there = (std::filesystem::current_path(folder.path()), true);
  fd::fuzz::require(there, "a folder of its own");
  std::vector<std::string> words = {"flashdiffusion", ""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] != 0) words.back() += static_cast<char>(data[i]);
    else words.emplace_back();
  }
  if (!only_reads(words)) return -1;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int status = program_main(static_cast<int>(words.size()), argv.data());
  fd::fuzz::require(status == fd::cli::done || status == fd::cli::wrong_use || status == fd::cli::failure,
                    "an exit status that the help names");
  fd::fuzz::require(std::filesystem::is_empty(folder.path()), "nothing left behind");
  return 0;
}
