#include "io/npz.hpp"

#include <zip.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/bytes.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"

namespace fd {
namespace {

constexpr std::uint64_t header_bytes = 1 << 16;  // enough for the header of a table

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

struct Member {
  zip_uint64_t index = 0;
  std::string name;  // without ".npy"
};

class Archive {
 public:
  explicit Archive(const std::string& path) : path_(path) {
    bytes_ = FileBytes(path).size();
    if (bytes_ == 0) throw Error(Failure::input, fmt::format("{} is empty (0 bytes)", path), "write it again");
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!archive_) {
      zip_error_t error;
      zip_error_init_with_code(&error, code);
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      throw Error(Failure::input, fmt::format("{} is not a readable .npz archive: {}", path, reason),
                  "write it again with np.savez");
    }
    const zip_int64_t entries = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t i = 0; i < entries; ++i) {
      const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
      const std::string_view view = name != nullptr ? name : "";
      if (view.size() > 4 && view.substr(view.size() - 4) == ".npy")
        members_.push_back({static_cast<zip_uint64_t>(i), std::string(view.substr(0, view.size() - 4))});
    }
  }

  const std::vector<Member>& members() const { return members_; }

  // A member as a .npy array. Its header comes first: memory is spent only where header and archive claim the same size.
  std::unique_ptr<MemoryBytes> array(const Member& member) const {
    const MemoryBytes start(label(member), unpack(member, header_bytes));
    const NpyHeader header = read_npy_header(start);
    check_npy_size(header, status_of(member).size, label(member));
    return std::make_unique<MemoryBytes>(label(member), unpack(member, UINT64_MAX));
  }

  // The first `most` bytes of a member, or all of it. Checks the sizes the archive claims before memory is spent on them.
  std::vector<char> unpack(const Member& member, std::uint64_t most) const {
    const zip_stat_t status = status_of(member);
    // Deflate cannot pack better than 1032 : 1; of other methods, which NumPy does not write, no bound is known.
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
      throw damaged(member, fmt::format("compression method {} is neither stored nor deflated", status.comp_method));
    const bool plausible =
        status.comp_size <= bytes_ &&
        (status.comp_method == ZIP_CM_STORE ? status.size <= status.comp_size : status.size / 1032 <= status.comp_size);
    if (!plausible) throw damaged(member, "its sizes contradict each other");
    const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(archive_.get(), member.index, 0));
    if (!file) throw damaged(member, zip_strerror(archive_.get()));
    std::vector<char> content;
    try {
      content.resize(static_cast<std::size_t>(std::min<std::uint64_t>(status.size, most)));
    } catch (const std::exception&) {
      throw Error(Failure::memory,
                  fmt::format("not enough memory to unpack '{}' of {} ({} bytes)", member.name, path_, status.size),
                  "save it as .npy, which is read piece by piece");
    }
    std::size_t filled = 0;
    while (filled < content.size()) {
      const zip_int64_t got = zip_fread(file.get(), content.data() + filled, content.size() - filled);
      if (got < 0) throw damaged(member, zip_file_strerror(file.get()));
      if (got == 0) throw damaged(member, "it ends too soon");
      filled += static_cast<std::size_t>(got);
    }
    // The checksum is compared when the end has been seen.
    char past_end = 0;
    if (content.size() == status.size && zip_fread(file.get(), &past_end, 1) != 0)
      throw damaged(member, zip_file_strerror(file.get()));
    return content;
  }

  std::string label(const Member& member) const { return path_ + ":" + member.name; }

  std::string listing() const {
    std::vector<std::string> lines;
    for (const Member& member : members_) {
      std::string shape = "unreadable";
      try {
        shape = shape_text(read_npy_header(MemoryBytes(label(member), unpack(member, header_bytes))).shape);
      } catch (const Error&) {  // listed all the same: the user may want another one
      }
      lines.push_back(fmt::format("{} {}", member.name, shape));
    }
    return fmt::format("{}", fmt::join(lines, ", "));
  }

 private:
  zip_stat_t status_of(const Member& member) const {
    zip_stat_t status;
    zip_stat_init(&status);
    constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(archive_.get(), member.index, 0, &status) != 0 || (status.valid & wanted) != wanted)
      throw damaged(member, zip_strerror(archive_.get()));
    return status;
  }

  Error damaged(const Member& member, const std::string& reason) const {
    return Error(Failure::input, fmt::format("{}: array '{}' cannot be unpacked: {}", path_, member.name, reason),
                 "the archive is damaged or of a foreign kind: write it again with np.savez");
  }

  std::string path_;
  std::uint64_t bytes_ = 0;  // of the whole archive
  std::unique_ptr<zip_t, Discard> archive_;
  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<PointSource> open_npz(const std::string& path, const std::string& name, const ReadOptions& options) {
  const Archive archive(path);
  const auto& members = archive.members();
  if (members.empty())
    throw Error(Failure::input, fmt::format("{} holds no arrays", path), "write it with np.savez(path, points=x)");
  auto chosen = members.begin();
  if (name.empty() && members.size() > 1)
    throw Error(Failure::input, fmt::format("{} holds several arrays: {}", path, archive.listing()),
                fmt::format("name one of them: {}:{}", path, members.front().name));
  if (!name.empty()) {
    chosen =
        std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name || m.name + ".npy" == name; });
    if (chosen == members.end())
      throw Error(Failure::input, fmt::format("{} holds no array '{}'; it holds: {}", path, name, archive.listing()),
                  "name one of these");
  }
  return open_npy(archive.array(*chosen), options);
}

std::vector<std::string> npz_names(const std::string& path) {
  const Archive archive(path);
  std::vector<std::string> names;
  for (const Member& member : archive.members()) names.push_back(member.name);
  return names;
}

}  // namespace fd
