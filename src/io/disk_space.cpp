#include "io/disk_space.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "io/bytes.hpp"

namespace fd {

void reserve_space(const std::string& temporary, const std::string& path, std::uint64_t bytes) {
  // Past the process limit a write would end a program that does not ignore SIGXFSZ.
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    throw system_error("write", path, EFBIG);
#if defined(__linux__)
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) throw system_error("write", path, errno);
  const int failed = ::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  ::close(file);
  if (failed == ENOSPC || failed == EDQUOT || failed == EFBIG) throw system_error("write", path, failed);
#endif
}

}  // namespace fd
