#include "io/text_doubt.hpp"

#include "io/text_line.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

std::string_view unsigned_part(std::string_view cell) {
  if (!cell.empty() && (cell[0] == '-' || cell[0] == '+')) cell.remove_prefix(1);
  return cell;
}

bool digit_at(std::string_view cell, std::size_t at) { return at < cell.size() && cell[at] >= '0' && cell[at] <= '9'; }

// A comma with a digit on either side: none of "1, 2" and "a,b".
bool has_decimal_comma(std::string_view cell) {
  const std::size_t comma = cell.find(',');
  return comma != std::string_view::npos && comma > 0 && digit_at(cell, comma - 1) && digit_at(cell, comma + 1);
}

}  // namespace

void BlanksInstead::see(std::string_view line) {
  if (!possible_) return;
  std::size_t cells = 0;
  bool decimals = false;
  std::string_view cell;
  for (Cells all(line, blanks); possible_ && all.next(cell); ++cells) {
    const bool comma = cell.find(',') != std::string_view::npos, number = NumberReader(true)(cell).has_value();
    decimals |= comma;
    possible_ = comma ? number && has_decimal_comma(cell) : number || cells == 0 || missing_word(cell);
  }
  possible_ &= decimals && (cells_ == 0 || cells_ == cells);
  cells_ = cells;
}

bool half_of_a_number(std::string_view cell, bool first) { return digits_only(first ? unsigned_part(cell) : cell); }

bool thousands(std::string_view cell) {
  cell = unsigned_part(cell);
  const std::size_t comma = cell.find(',');
  return comma >= 1 && comma <= 3 && cell.size() == comma + 4 && cell[0] != '0' && digits_only(cell.substr(0, comma)) &&
         digits_only(cell.substr(comma + 1));
}

}  // namespace fd
