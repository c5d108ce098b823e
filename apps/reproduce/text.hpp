// A result as text for people.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

std::string value_text(const Value& value);  // "0.3694 ± 0.04"; "-" where nothing is known
const char* name(Verdict verdict);           // "agrees", "differs", "not measured"

std::string result_text(const Result& result);

}  // namespace fd::reproduce
