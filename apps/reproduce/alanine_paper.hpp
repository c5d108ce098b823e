// What the paper says of alanine dipeptide, by the names of paper_figures.json.
#pragma once

#include <string>

#include "reproduce/paper.hpp"

namespace fd::reproduce {

inline std::string place(const char* name) { return paper_place("alanine", name); }
inline double paper_of(const char* name) { return paper_number("alanine", name); }

}  // namespace fd::reproduce
