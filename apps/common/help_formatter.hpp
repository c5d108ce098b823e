// How --help looks: the value of an option as its name or its choices, the default in brackets, long descriptions in several lines.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

namespace fd::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(descriptions); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = option->get_name(is_positional, true);
    while (name.find('{') != std::string::npos) name.erase(name.find('{'), name.find('}') - name.find('{') + 1);
    return name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    std::string type = option->get_type_name(), text;
    const auto open = type.find('{');
    if (open != std::string::npos) {
      type = type.substr(open + 1, type.find('}') - open - 1);
      for (char& c : type) c = c == ',' ? '|' : c;
    } else {
      type = type.substr(0, type.find(':'));
    }
    if (!type.empty()) text += " " + type;
    if (option->get_expected_max() > 1) text += " ...";
    if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n")) text.erase(gap, 1);
    return wrapped(text);
  }

 private:
  static constexpr std::size_t descriptions = 36, width = 110;

  // Lines of options that are too long go on below their description. What is aligned by hand is left as it is.
  static std::string wrapped(const std::string& text) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line); out += line + "\n") {
      const bool option = line.rfind("  -", 0) == 0 || line.rfind(std::string(descriptions, ' '), 0) == 0;
      while (option && line.size() > width) {
        const std::size_t cut = line.rfind(' ', width);
        if (cut == std::string::npos || cut <= descriptions) break;
        out += line.substr(0, cut) + "\n";
        line = std::string(descriptions, ' ') + line.substr(cut + 1);
      }
    }
    return out;
  }
};

}  // namespace fd::cli
