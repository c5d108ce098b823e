// Work that may crash or never end, done in a forked copy of this process. The parent and the child talk over a socket; whatever
// becomes of the child, the parent only sees that it has ended, and says so as an Error.
//
// Guarantees: the child runs no exit handlers, prints nothing, leaves no files; it ends with its parent. Its processor time and
// its memory are limited, so a loop without end is an ending like any other.
//
// A forked child has one thread. Had the parent more, one of them might hold a lock (of malloc, of HDF5) that nobody in the child
// will ever release; possible() is false then, and the caller does the work itself. It does not know what the work is.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <flashdiffusion/error.hpp>

namespace fd {

// One end of the conversation. Each call is whole, or throws Ended when the other side is gone.
struct Ended {};

class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}
  void send(const void* data, std::size_t bytes) const;
  void receive(void* data, std::size_t bytes) const;
  void send_number(std::uint64_t value) const { send(&value, sizeof value); }
  std::uint64_t receive_number() const;
  void send_text(const std::string& text) const;
  std::string receive_text() const;
  int socket() const { return socket_; }

 private:
  int socket_;
};

class ChildProcess {
 public:
  // `path`: the file the work is about, for messages; its size sets the limits. `work` runs in the child.
  ChildProcess(std::string path, const std::function<void(const Channel&)>& work);
  ~ChildProcess();  // ends the child
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  static bool possible();

  // A question and its answer: `talk` sends, waits by await() and receives. Where the child ended instead, Error(input) says how.
  template <class F>
  void ask(F&& talk) {
    try {
      talk(channel_);
    } catch (const Ended&) {
      report_end();
    }
  }

 private:
  [[noreturn]] void report_end();

  std::string path_;
  Channel channel_;
  pid_t child_ = -1;
};

void announce_answer(const Channel& channel);  // the child, before it answers
void await_answer(const Channel& channel);     // the parent; throws what the child threw
void grant_time(std::uint64_t bytes);          // the child: processor time for work on a file of this many bytes, from now on

}  // namespace fd
