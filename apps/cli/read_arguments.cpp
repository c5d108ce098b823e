#include "cli/read_arguments.hpp"

#include <CLI/CLI.hpp>

#include "common/flag_names.hpp"

namespace fd::cli {

void ReadArguments::declare(CLI::App& app) {
  const char* group = "How files are read";
  app.add_option("--header", header, "whether the first line of text names the columns")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->group(group);
  app.add_option("--names", names, "the column of text that names the rows, by header or number; none")
      ->type_name("COLUMN")
      ->capture_default_str()
      ->group(group);
  app.add_option("--missing", missing, "rows with NA, NaN, infinity or an empty cell")
      ->type_name("")
      ->capture_default_str()
      ->check(CLI::IsMember({"refuse", "drop-rows"}))
      ->group(group);
}

ReadOptions ReadArguments::options() const {
  ReadOptions options;
  if (header != "auto") options.header = header == "yes";
  options.names = names;
  options.missing = missing == "drop-rows" ? Missing::drop_rows : Missing::refuse;
  return options;
}

std::vector<std::string> notes_of(const PointSource& source) {
  std::vector<std::string> notes = source.notes();
  for (std::string& note : notes) note = with_flags(note);
  return notes;
}

}  // namespace fd::cli
