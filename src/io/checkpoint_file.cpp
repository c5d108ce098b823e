#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include <flashdiffusion/checkpoint.hpp>
#include <flashdiffusion/error.hpp>

#include "io/atomic_file.hpp"
#include "io/bytes.hpp"
#include "io/file_seal.hpp"
#include "io/output_file.hpp"

namespace fd {

namespace {

// What a run that was killed while it wrote has left beside the file (AtomicFile): one fit at a time has a checkpoint.
void remove_leftovers(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string prefix = "." + whole.filename().string().substr(0, 200) + ".", suffix = ".tmp";
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(whole.has_parent_path() ? whole.parent_path() : ".", unknown)) {
    const std::string name = entry.path().filename().string();
    constexpr std::size_t random = 16;
    if (name.size() == prefix.size() + random + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix))
      std::filesystem::remove(entry.path(), unknown);
  }
}

}  // namespace

std::optional<std::vector<char>> CheckpointFile::load() {
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path_, unknown);
  remove_leftovers(unknown ? path_ : whole.string());
  struct stat found = {};
  if (::stat(path_.c_str(), &found) != 0 && errno == ENOENT) return {};
  if (examine_seal(path_) != Seal::whole)
    throw Error(Failure::input, fmt::format("{} is not a whole checkpoint of a fit", path_),
                "remove it, or name another file, to begin anew");
  const FileBytes file(path_);
  std::vector<char> bytes(static_cast<std::size_t>(file.size()));
  file.read(0, bytes.size(), bytes.data());
  return bytes;
}

void CheckpointFile::save(const std::function<void(const Put&)>& write) {
  AtomicFile file(path_);
  OutputFile out(file.temporary(), path_);
  // small pieces are collected
  std::vector<char> waiting;
  constexpr std::size_t enough = std::size_t{1} << 20;
  const auto flush = [&] {
    out.write(waiting.data(), waiting.size());
    waiting.clear();
  };
  write([&](const void* data, std::size_t bytes) {
    if (waiting.size() + bytes > enough) flush();
    if (bytes >= enough) return out.write(data, bytes);
    const char* from = static_cast<const char*>(data);
    waiting.insert(waiting.end(), from, from + bytes);
  });
  flush();
  out.close();
  seal_file(file.temporary(), path_);
  file.commit();
}

// A link stays: what it leads to is the checkpoint.
void CheckpointFile::remove() {
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::canonical(path_, unknown);
  if (::unlink((unknown ? path_ : whole.string()).c_str()) != 0 && errno != ENOENT) throw system_error("remove", path_, errno);
}

}  // namespace fd
