// The bytes of a descriptor from start to end, unpacked where they are gzip. Several gzip members in a row are one stream, as gzip has
// it, and zeros after the last are padding; any other byte there, damage, or an end too soon throws Error(input). Knows nothing of lines.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fd {

class UnpackedStream {
 public:
  UnpackedStream(int descriptor, std::string name);  // the descriptor is the caller's

  std::size_t read(char* out, std::size_t count);  // 0 only at the end
  bool packed() const { return packed_; }          // known after the first read

 private:
  enum class Part { start, plain, member, between };  // where in the stream the next byte lies

  bool fill();
  std::size_t take(char* out, std::size_t count);
  void begin_member();
  std::size_t unpack(char* out, std::size_t count);

  struct End {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };
  int descriptor_;
  std::string name_;
  std::vector<unsigned char> input_;
  std::size_t at_ = 0, end_ = 0;  // what of it is not used yet
  std::unique_ptr<z_stream, End> inflate_;
  Part part_ = Part::start;
  bool packed_ = false;
};

}  // namespace fd
