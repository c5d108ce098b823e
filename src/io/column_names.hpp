// Whether tables have the same columns. Columns are taken by position; where tables name theirs, the names say whether that is right.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fd {

// Nothing to say of equal names, and of tables that have none. A name that belongs to another column (capitals or not) throws Error(input)
// whatever the other names are; names that differ otherwise are a note. `known_by` and `given_by`: the files, for messages.
std::string compare_columns(const std::vector<std::string>& known, const std::string& known_by,
                            const std::vector<std::string>& given, const std::string& given_by);

// The tables that make one: each is compared with all before it.
class ColumnNames {
 public:
  void compare(const std::vector<std::string>& given, const std::string& given_by);  // throws as compare_columns does
  const std::vector<std::string>& notes() const { return notes_; }                   // at most one of each table

 private:
  std::vector<std::pair<std::vector<std::string>, std::string>> known_;  // each different, and who has it first
  std::vector<std::string> notes_;
};

}  // namespace fd
