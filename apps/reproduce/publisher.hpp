// What came out, published as it comes: a result is printed and its page written when its experiment ends, so that what fails or is interrupted
// later takes nothing away from what is finished. JSON is one document and is printed at the end.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Where pages go.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}  // empty: no pages are wanted
  void make() const;                                             // if it is not there; before any work is done, as the next
  void try_page(const std::string& name) const;                  // that it can be written there
  bool wanted() const { return !path_.empty(); }
  std::string page(const std::string& name) const;

 private:
  std::string path_;
};

enum class Form { text, json, nothing };

class Publisher {
 public:
  Publisher(const Folder& folder, Form form) : folder_(folder), form_(form) {}

  void add(Result result, const std::string& command);  // `command`: what repeats it
  void leave_out(LeftOut one) { left_out_.push_back(std::move(one)); }
  const std::vector<Result>& results() const { return results_; }

  // The index over all, where `command` says what ran them, and the document. A page that could not be written, or a result that could not be
  // printed while pages are wanted, is an error here, when all else has been done: results may be hours of work.
  void end(const std::string& command, const nlohmann::ordered_json& machine);

 private:
  void write_page(const std::string& name, const std::string& text);
  void print(const std::string& text);
  std::string document(bool all, const nlohmann::ordered_json& machine) const;

  const Folder& folder_;
  Form form_;
  std::vector<Result> results_;
  std::vector<LeftOut> left_out_;
  std::vector<std::string> pages_;            // names of those that were written
  std::exception_ptr unwritten_, unprinted_;  // the first; nothing is printed after it
};

}  // namespace fd::reproduce
