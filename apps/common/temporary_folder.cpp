#include "common/temporary_folder.hpp"

#include <unistd.h>

#include <cstdlib>

#include <flashdiffusion/error.hpp>

#include "common/console.hpp"

namespace fd::cli {

TemporaryFolder::TemporaryFolder() {
  std::error_code failed;  // where TMPDIR leads to nothing
  std::string name = (std::filesystem::temp_directory_path(failed) / (std::string(program_name()) + "-XXXXXX")).string();
  if (failed || mkdtemp(name.data()) == nullptr)
    throw Error(Failure::io, "could not make a temporary folder", "set TMPDIR to a folder that can be written to");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fd::cli
