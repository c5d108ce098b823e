// What came out, published as it comes: a result is printed and its page written when its experiment ends, so that what fails or is interrupted
// later takes nothing away from what is finished. JSON is one document and is printed at the end.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Where pages go: made if it is not there, and tried before any work is done.
class Folder {
 public:
  explicit Folder(std::string path);             // empty: no pages are wanted
  void try_page(const std::string& name) const;  // that it can be written there
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

  // The index over all, where `command` says what ran them, and the document. A page that could not be written is an error here, after
  // everything has been printed: results may be hours of work.
  void end(const std::string& command, const nlohmann::ordered_json& machine);

 private:
  void write_page(const std::string& name, const std::string& text);
  void print_document(bool all, const nlohmann::ordered_json& machine) const;

  const Folder& folder_;
  Form form_;
  std::vector<Result> results_;
  std::vector<LeftOut> left_out_;
  std::vector<std::string> pages_;
  std::exception_ptr unwritten_;  // the first
};

}  // namespace fd::reproduce
