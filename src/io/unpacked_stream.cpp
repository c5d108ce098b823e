#include "io/unpacked_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "io/bytes.hpp"

namespace fd {
namespace {

constexpr unsigned char magic[2] = {0x1f, 0x8b};
constexpr std::size_t input_bytes = std::size_t{1} << 17;

Error damaged(const std::string& name) {
  return Error(Failure::input, fmt::format("{}: its gzip data are damaged or were cut short", name), "copy or compress it again");
}

}  // namespace

UnpackedStream::UnpackedStream(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), input_(input_bytes) {}

// More input behind what is left of it; false at the end.
bool UnpackedStream::fill() {
  if (at_ > 0) {
    std::memmove(input_.data(), input_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  ssize_t got = 0;
  do got = ::read(descriptor_, input_.data() + end_, input_.size() - end_);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw system_error("read", name_, errno);
  end_ += static_cast<std::size_t>(got);
  return got > 0;
}

std::size_t UnpackedStream::read(char* out, std::size_t count) {
  while (count > 0) {
    switch (part_) {
      case Part::start:
        while (end_ < sizeof magic && fill()) {
        }
        packed_ = end_ >= sizeof magic && std::equal(std::begin(magic), std::end(magic), input_.data());
        part_ = packed_ ? Part::member : Part::plain;
        if (packed_) begin_member();
        break;
      case Part::plain: return at_ < end_ || fill() ? take(out, count) : 0;
      case Part::member:
        if (const std::size_t made = unpack(out, count); made > 0) return made;
        break;
      case Part::between:
        while (at_ < end_ && input_[at_] == 0) ++at_;
        if (at_ == end_ && fill()) break;
        if (at_ == end_) return 0;
        if (end_ - at_ < sizeof magic) fill();
        if (end_ - at_ < sizeof magic || !std::equal(std::begin(magic), std::end(magic), input_.data() + at_))
          throw Error(Failure::input, fmt::format("{}: bytes that are not gzip follow the end of its gzip data", name_),
                      "copy or compress it again");
        begin_member();
        part_ = Part::member;
        break;
    }
  }
  return 0;
}

std::size_t UnpackedStream::take(char* out, std::size_t count) {
  const std::size_t now = std::min(count, end_ - at_);
  std::memcpy(out, input_.data() + at_, now);
  at_ += now;
  return now;
}

void UnpackedStream::begin_member() {
  if (inflate_) {
    inflateReset(inflate_.get());
    return;
  }
  constexpr int gzip_window = 15 + 16;  // the largest window, and a gzip header and checksum around it
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), gzip_window) != Z_OK) throw std::bad_alloc();
  inflate_.reset(stream.release());
}

// 0 where the member ends without another byte.
std::size_t UnpackedStream::unpack(char* out, std::size_t count) {
  const uInt room = static_cast<uInt>(std::min<std::size_t>(count, 1u << 30));
  inflate_->next_out = reinterpret_cast<Bytef*>(out);
  inflate_->avail_out = room;
  while (inflate_->avail_out == room && part_ == Part::member) {
    if (at_ == end_ && !fill()) throw damaged(name_);
    inflate_->next_in = input_.data() + at_;
    inflate_->avail_in = static_cast<uInt>(end_ - at_);
    const int code = inflate(inflate_.get(), Z_NO_FLUSH);
    at_ = end_ - inflate_->avail_in;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) part_ = Part::between;
    else if (code != Z_OK && code != Z_BUF_ERROR) throw damaged(name_);
  }
  return room - inflate_->avail_out;
}

}  // namespace fd
