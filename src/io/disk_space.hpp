// Room on the disk, asked for before a file is written: a full disk is then found at once, with its reason, and not in the middle.
#pragma once

#include <cstdint>
#include <string>

namespace fd {

// Reserves `bytes` for the file `temporary`, which exists, without changing its length. Throws Error(io) that names `path`, the
// file the user asked for. Does nothing on file systems that cannot reserve.
void reserve_space(const std::string& temporary, const std::string& path, std::uint64_t bytes);

}  // namespace fd
