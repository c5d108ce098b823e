// completions: a completion script for a shell, made from the program's own verbs and options, so that it cannot
// fall behind them.
#include <algorithm>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "common/program.hpp"

namespace fd::cli {
namespace {

struct OptionWords {
  std::vector<std::string> names;    // "-k", "--modes"
  std::vector<std::string> choices;  // of its value, where they are a closed list
  bool takes_value = false;
  std::string help;
};

// CLI11 describes a closed list of values as "{a,b,c}" in the type name of the option.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos || close < open) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

std::vector<OptionWords> options_of(const CLI::App& app) {
  std::vector<OptionWords> result;
  for (const CLI::Option* option : app.get_options()) {
    OptionWords words;
    for (const std::string& name : option->get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.names.push_back("--" + name);
    words.choices = choices(*option);
    words.takes_value = option->get_items_expected_max() > 0 && !words.names.empty();
    words.help = option->get_description();
    result.push_back(words);
  }
  return result;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::string all_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const OptionWords& option : options_of(app)) names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names);
}

std::string positional_choices(const CLI::App& app) {
  for (const OptionWords& option : options_of(app))
    if (option.names.empty() && !option.choices.empty()) return joined(option.choices);
  return {};
}

std::string function_name(const CLI::App& root) {
  std::string name = "_" + root.get_name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string bash_script(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* verb : verbs_of(root)) {
    names += verb->get_name() + " ";
    cases += fmt::format("    {})\n      case \"$previous\" in\n", verb->get_name());
    for (const OptionWords& option : options_of(*verb))
      if (option.takes_value && !option.choices.empty())
        cases += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", joined(option.names, "|"),
                             joined(option.choices));
    cases += fmt::format("      esac\n      options='{}'\n      values='{}' ;;\n", all_names(*verb), positional_choices(*verb));
  }
  return fmt::format(R"(# bash completion of {0}; load it with: source <({0} completions bash)
{1}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" options='' values=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{2}{3}' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{4}  esac
  if [ "${{word:0:1}}" = - ]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F {1} {0}
)",
                     root.get_name(), function_name(root), names, all_names(root), cases);
}

// A description inside single quotes, in a place where brackets and colons have a meaning of their own.
std::string zsh_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') result += "'\\''";
    else if (c == '[' || c == ']' || c == ':') result += std::string("\\") + c;
    else result += c;
  }
  return result;
}

std::string zsh_script(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* verb : verbs_of(root)) {
    names += fmt::format("    '{}:{}'\n", verb->get_name(), zsh_quoted(verb->get_description()));
    cases += fmt::format("    {})\n      _arguments -s \\\n", verb->get_name());
    for (const OptionWords& option : options_of(*verb))
      for (const std::string& name : option.names) {
        const std::string value =
            option.takes_value ? ":value:" + (option.choices.empty() ? "_files" : "(" + joined(option.choices) + ")") : "";
        cases += fmt::format("        '{}[{}]{}' \\\n", name, zsh_quoted(option.help), value);
      }
    const std::string values = positional_choices(*verb);
    cases += fmt::format("        '*:argument:{}' ;;\n", values.empty() ? "_files" : "(" + values + ")");
  }
  return fmt::format(R"(#compdef {0}
# zsh completion of {0}; load it with: source <({0} completions zsh)
{1}() {{
  local -a verbs
  verbs=(
{2}  )
  if (( CURRENT == 2 )); then
    _describe 'command' verbs
    compadd -- {3}
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{4}  esac
}}
compdef {1} {0}
)",
                     root.get_name(), function_name(root), names, all_names(root), cases);
}

std::string fish_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string fish_option(const std::string& program, const std::string& condition, const OptionWords& option) {
  if (option.names.empty()) return {};
  std::string line = "complete -c " + program + " -n '" + condition + "'";
  for (const std::string& name : option.names) line += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) line += option.choices.empty() ? " -r" : " -x -a '" + joined(option.choices) + "'";
  return line + " -d '" + fish_quoted(option.help) + "'\n";
}

std::string fish_script(const CLI::App& root) {
  const std::string& program = root.get_name();
  std::string text = fmt::format("# fish completion of {0}; load it with: {0} completions fish | source\n", program);
  for (const OptionWords& option : options_of(root)) text += fish_option(program, "__fish_use_subcommand", option);
  for (const CLI::App* verb : verbs_of(root)) {
    text += fmt::format("complete -c {} -f -n __fish_use_subcommand -a {} -d '{}'\n", program, verb->get_name(),
                        fish_quoted(verb->get_description()));
    const std::string condition = "__fish_seen_subcommand_from " + verb->get_name();
    for (const OptionWords& option : options_of(*verb)) text += fish_option(program, condition, option);
    const std::string values = positional_choices(*verb);
    if (!values.empty()) text += fmt::format("complete -c {} -f -n '{}' -a '{}'\n", program, condition, values);
  }
  return text;
}

}  // namespace

Action declare_completions(CLI::App& app, const std::vector<std::string>&) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "which shell")->type_name("")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      fmt::format("Examples:\n  source <({0} completions bash)\n  {0} completions fish | source", app.get_parent()->get_name()));
  return [shell, &app] {
    const CLI::App& root = *app.get_parent();
    print_result(*shell == "bash" ? bash_script(root) : *shell == "zsh" ? zsh_script(root) : fish_script(root));
    return int{done};
  };
}

}  // namespace fd::cli
