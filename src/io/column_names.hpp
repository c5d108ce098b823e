// Whether two tables have the same columns. Columns are taken by position; where both tables name theirs, the names say whether that is right.
#pragma once

#include <string>
#include <vector>

namespace fd {

// Nothing to say of equal names, and of tables that have none. The same names in another order throw Error(input); names that differ
// otherwise are a note. `known_by` and `given_by`: the files, for messages.
std::string compare_columns(const std::vector<std::string>& known, const std::string& known_by,
                            const std::vector<std::string>& given, const std::string& given_by);

}  // namespace fd
