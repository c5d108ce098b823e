#include "io/write_text.hpp"

#include "io/atomic_file.hpp"
#include "io/disk_space.hpp"
#include "io/output_file.hpp"

namespace fd {

void write_text_file(std::string_view text, const std::string& path) {
  AtomicFile file(path);
  reserve_space(file.temporary(), path, text.size());
  OutputFile output(file.temporary(), path);
  output.write(text.data(), text.size());
  output.close();
  file.commit();
}

}  // namespace fd
