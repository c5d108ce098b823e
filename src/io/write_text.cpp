#include "io/write_text.hpp"

#include <list>

#include "io/atomic_file.hpp"
#include "io/disk_space.hpp"
#include "io/output_file.hpp"

namespace fd {
namespace {

void write(std::string_view text, const AtomicFile& file, const std::string& path) {
  reserve_space(file.temporary(), path, text.size());
  OutputFile output(file.temporary(), path);
  output.write(text.data(), text.size());
  output.close();
}

}  // namespace

void write_text_file(std::string_view text, const std::string& path) {
  AtomicFile file(path);
  write(text, file, path);
  file.commit();
}

void write_text_files(const std::vector<TextFile>& files) {
  std::list<AtomicFile> written;
  for (const TextFile& file : files) write(file.text, written.emplace_back(file.path), file.path);
  for (AtomicFile& file : written) file.commit();
}

}  // namespace fd
