// Which build this is.
#pragma once

#include <string>

namespace fd {

inline constexpr const char* version = "0.1.0";
std::string commit();             // of the source this was built from; "unknown" outside a repository
std::string build_description();  // version, commit, compiler, instruction set in use, libraries: one line each

}  // namespace fd
