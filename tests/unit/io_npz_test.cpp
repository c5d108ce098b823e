// .npz archives: stored and deflated members, choice by name, damage.
#include <zip.h>

#include "io/open_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

struct Entry {
  std::string name, content;
  zip_int32_t method = ZIP_CM_STORE;
};

class IoNpz : public TemporaryFolder {
 protected:
  std::string archive(const std::string& name, const std::vector<Entry>& entries) {
    zip_t* out = zip_open(path(name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const Entry& entry : entries) {
      zip_source_t* source = zip_source_buffer(out, entry.content.data(), entry.content.size(), 0);
      const zip_int64_t index = zip_file_add(out, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
      zip_set_file_compression(out, static_cast<zip_uint64_t>(index), entry.method, 0);
    }
    EXPECT_EQ(zip_close(out), 0);
    return path(name);
  }
  const std::string table_ = npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}));
  const std::string other_ = npy_bytes(npy_description(">i2", "(2, 3)", true), raw<std::int16_t>({1, 4, 2, 5, 3, 6}, true));
  const std::string labels_ = npy_bytes(npy_description("<i8", "(3,)"), raw<std::int64_t>({0, 1, 2}));
};

TEST_F(IoNpz, StoredAndDeflated) {
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const auto source = open_points({archive("a.npz", {{"points.npy", table_, method}})});
    EXPECT_EQ(source->rows(), 3u);
    EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(source->exact_in_float());
  }
}

TEST_F(IoNpz, Names) {
  const std::string file =
      archive("a.npz", {{"points.npy", table_}, {"other.npy", other_, ZIP_CM_DEFLATE}, {"labels.npy", labels_}, {"readme", "x"}});
  EXPECT_EQ(open_points({file + ":points"})->rows(), 3u);
  EXPECT_EQ(open_points({file + ":other.npy"})->rows(), 2u);
  EXPECT_EQ(all_of(*open_points({file + ":other"})), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  Error error = error_of([&] { open_points({file}); });
  EXPECT_EQ(error.kind(), Failure::input);
  EXPECT_TRUE(says(error, "points (3, 2), other (2, 3), labels (3,)"));
  EXPECT_TRUE(says(error, file + ":points"));
  error = error_of([&] { open_points({file + ":none"}); });
  EXPECT_TRUE(says(error, "no array 'none'"));
  EXPECT_TRUE(says(error, "points (3, 2)"));
  EXPECT_TRUE(says(error_of([&] { open_points({file + ":labels"}); }), "reshape(-1, 1)"));
}

TEST_F(IoNpz, SizesAreCheckedBeforeMemoryIsSpent) {
  // Two packed kilobytes that unpack to megabytes, while the header speaks of six numbers: refused by the header.
  const std::string padded = table_ + std::string(std::size_t{2} << 20, '\0');
  EXPECT_TRUE(says(error_of([&] {
                     open_points({archive("long.npz", {{"a.npy", padded, ZIP_CM_DEFLATE}})});
                   }),
                   "the header claims (3, 2)"));
  // A header that claims more than any memory, in a member of any method.
  for (const char* shape : {"(4294967296, 4294967296)", "(4294967295, 2)"}) {
    const std::string lies = npy_bytes(npy_description("<f4", shape), raw<float>({1, 2}));
    for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE})
      EXPECT_TRUE(says(error_of([&] { open_points({archive("lies.npz", {{"a.npy", lies, method}})}); }), "the header claims"));
  }
  // The archive's own sizes: uncompressed size 0x40000000 in both headers, then a method without a known bound.
  archive("a.npz", {{"a.npy", table_, ZIP_CM_DEFLATE}});
  const std::string whole = get("a.npz");
  const std::size_t local = whole.find("PK\x03\x04"), central = whole.find("PK\x01\x02");
  std::string huge = whole, foreign = whole;
  for (const std::size_t at : {local + 22, central + 24}) huge.replace(at, 4, std::string("\0\0\0\x40", 4));
  for (const std::size_t at : {local + 8, central + 10}) foreign.replace(at, 2, std::string("\x0c\0", 2));
  EXPECT_TRUE(says(error_of([&] { open_points({put("huge.npz", huge)}); }), "sizes contradict"));
  EXPECT_TRUE(says(error_of([&] { open_points({put("foreign.npz", foreign)}); }), "neither stored nor deflated"));
}

TEST_F(IoNpz, NotAnArchiveOfArrays) {
  EXPECT_TRUE(says(error_of([&] { open_points({put("a.npz", "")}); }), "is empty"));
  EXPECT_TRUE(says(error_of([&] { open_points({put("a.npz", "PK nonsense")}); }), "np.savez"));
  EXPECT_TRUE(says(error_of([&] { open_points({archive("b.npz", {{"readme", "x"}})}); }), "holds no arrays"));
  EXPECT_TRUE(says(error_of([&] { open_points({archive("c.npz", {{"a.npy", "x"}})}); }), "c.npz:a"));
  std::filesystem::rename(archive("d.npz", {{"a.npy", table_}}), path("by-its-first-bytes"));
  EXPECT_EQ(open_points({path("by-its-first-bytes")})->rows(), 3u);
}

TEST_F(IoNpz, EveryPrefixAndEveryChangedByte) {
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    archive("a.npz", {{"a.npy", table_, method}});
    const std::string whole = get("a.npz");
    for (std::size_t length = 0; length < whole.size(); ++length) {
      SCOPED_TRACE(length);
      EXPECT_EQ(error_of([&] { open_points({put("cut.npz", whole.substr(0, length))}); }).kind(), Failure::input);
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(~changed[at]);
      try {
        EXPECT_EQ(all_of(*open_points({put("changed.npz", changed)})), (std::vector<double>{1, 2, 3, 4, 5, 6}))
            << at;  // the checksum holds
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace fd::io_test
