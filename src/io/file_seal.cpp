#include "io/file_seal.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "io/bytes.hpp"

namespace fd {
namespace {

std::uint32_t crc_of(const FileBytes& file, std::uint64_t length) {
  std::vector<unsigned char> piece(std::size_t{1} << 20);
  uLong sum = crc32(0, nullptr, 0);
  for (std::uint64_t at = 0; at < length; at += piece.size()) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), length - at));
    file.read(at, now, piece.data());
    sum = crc32(sum, piece.data(), static_cast<uInt>(now));
  }
  return static_cast<std::uint32_t>(sum);
}

constexpr std::string_view title = "\nflashdiffusion seal: ";
constexpr std::size_t seal_bytes = title.size() + 16 + 1 + 8 + 1;

std::string seal_text(std::uint64_t length, std::uint32_t crc) { return fmt::format("{}{:016x} {:08x}\n", title, length, crc); }

}  // namespace

void seal_file(const std::string& temporary, const std::string& shown) {
  std::string seal;
  {
    const FileBytes file(temporary);
    seal = seal_text(file.size(), crc_of(file, file.size()));
  }
  const int file = ::open(temporary.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) throw system_error("write", shown, errno);
  std::size_t written = 0;
  int failed = 0;
  while (written < seal.size() && failed == 0) {
    const ssize_t put = ::write(file, seal.data() + written, seal.size() - written);
    if (put > 0) written += static_cast<std::size_t>(put);
    else if (put == 0 || errno != EINTR) failed = put == 0 ? EIO : errno;
  }
  if (::close(file) != 0 && failed == 0) failed = errno;
  if (failed != 0) throw system_error("write", shown, failed);
}

Seal examine_seal(const std::string& path) {
  const FileBytes file(path);
  if (file.size() < seal_bytes) return Seal::none;
  const std::uint64_t length = file.size() - seal_bytes;
  std::string found(seal_bytes, '\0');
  file.read(length, seal_bytes, found.data());
  if (found.compare(0, title.size(), title) != 0) return Seal::none;
  return found == seal_text(length, crc_of(file, length)) ? Seal::whole : Seal::broken;
}

}  // namespace fd
