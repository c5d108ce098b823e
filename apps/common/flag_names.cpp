#include "common/flag_names.hpp"

#include <algorithm>
#include <iterator>

namespace fd::cli {
namespace {

constexpr struct {
  const char *field, *flag;
} names[] = {
    {"modes", "--modes"},
    {"alpha", "--alpha"},
    {"beta", "--beta"},
    {"select", "--select"},
    {"ladder", "--ladder"},
    {"precision", "--precision"},
    {"backend", "--backend"},
    {"threads", "--threads"},
    {"block", "--block"},
    {"basis", "--basis"},
    {"tolerance", "--tolerance"},
    {"max_passes", "--max-passes"},
    {"memory_bytes", "--memory"},
    {"beta0", "--beta0"},
    {"beta0_cap", "--beta0-cap"},
    {"beta_max", "--beta-max"},
    {"components", "--components"},
    {"trim", "--trim"},
    {"seed", "--seed"},
    {"header", "--header"},  // of fd::ReadOptions, as are the next two
    {"names", "--names"},
    {"missing", "--missing"},
    {"points", "--points"},  // of fd::Model
    {"ranks", "--ranks"},
    {"rows_a_rank", "--rows-a-rank"},
    {"devices", "--devices"},
    {"ridge", "--ridge"},
    {"folds", "--folds"},  // of fd::DecodeOptions
};

}  // namespace

std::string with_flags(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('`', at), close = open == std::string::npos ? open : text.find('`', open + 1);
    out += text.substr(at, open - at);
    if (close == std::string::npos) return out + (open == std::string::npos ? "" : text.substr(open));
    const std::string inside = text.substr(open + 1, close - open - 1);
    const std::size_t equals = inside.find(" = ");
    const auto name = std::find_if(std::begin(names), std::end(names),
                                   [&](const auto& known) { return inside.substr(0, equals) == known.field; });
    if (name == std::end(names)) {  // the second backtick may open a field
      out += "`" + inside;
      at = close;
      continue;
    }
    out += name->flag;
    if (equals != std::string::npos) out += " " + inside.substr(equals + 3);
    at = close + 1;
  }
  return out;
}

}  // namespace fd::cli
