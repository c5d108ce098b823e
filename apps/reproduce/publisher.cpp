#include "reproduce/publisher.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "common/console.hpp"
#include "io/atomic_file.hpp"
#include "io/write_text.hpp"
#include "reproduce/document.hpp"
#include "reproduce/page.hpp"
#include "reproduce/text.hpp"

namespace fd::reproduce {

void Folder::make() const {
  if (!wanted()) return;
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed || !std::filesystem::is_directory(path_))
    throw Error(
        Failure::io,
        fmt::format("--out {}: no folder, and none could be made ({})", path_, failed ? failed.message() : "a file is there"),
        "name a folder that can be written to");
}

void Folder::try_page(const std::string& name) const {
  if (wanted()) AtomicFile check(page(name));
}

std::string Folder::page(const std::string& name) const { return (std::filesystem::path(path_) / (name + ".html")).string(); }

void Publisher::add(Result result, const std::string& command) {
  result.fault_what_is_no_number();
  if (folder_.wanted()) write_page(result.name, experiment_page(result, command));
  results_.push_back(std::move(result));
  if (form_ == Form::text) print((results_.size() > 1 ? "\n" : "") + result_text(results_.back()));
}

void Publisher::print(const std::string& text) {
  if (unprinted_) return;
  try {
    cli::print_result(text);
  } catch (...) {
    if (!folder_.wanted()) throw;  // nobody would know what comes out from here on
    unprinted_ = std::current_exception();
  }
}

void Publisher::write_page(const std::string& name, const std::string& text) {
  try {
    write_text_file(text, folder_.page(name));
    pages_.push_back(name);
  } catch (const Error&) {
    if (!unwritten_) unwritten_ = std::current_exception();
  }
}

std::string Publisher::document(bool all, const nlohmann::ordered_json& machine) const {
  nlohmann::ordered_json document;
  if (all) {
    document["experiments"] = nlohmann::ordered_json::array();
    for (const Result& result : results_) document["experiments"].push_back(document_of(result));
    document["left_out"] = nlohmann::ordered_json::array();
    for (const LeftOut& one : left_out_) document["left_out"].push_back(document_of(one));
  } else {
    document = document_of(results_.front());
  }
  document["machine"] = machine;
  document["pages"] = nlohmann::ordered_json::array();
  for (const std::string& page : pages_) document["pages"].push_back(folder_.page(page));
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void Publisher::end(const std::string& command, const nlohmann::ordered_json& machine) {
  const bool all = !command.empty();
  if (all && folder_.wanted()) write_page("index", index_page(results_, left_out_, pages_, command));
  if (form_ == Form::json) print(document(all, machine));
  if (form_ == Form::text) {
    std::string text;
    for (const LeftOut& one : left_out_) text += fmt::format("\n{} was left out: {}\n", one.name, one.reason);
    for (const std::string& page : pages_) text += fmt::format("\nwritten     {}", folder_.page(page));
    if (!text.empty()) print(text + (pages_.empty() ? "" : "\n"));
  }
  if (unprinted_) std::rethrow_exception(unprinted_);
  if (unwritten_) std::rethrow_exception(unwritten_);
}

}  // namespace fd::reproduce
