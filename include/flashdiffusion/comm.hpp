// Messages between ranks that share one fit, each with its own rows: threads of a process, or processes of a cluster. Rank 0 decides, the others
// do what it tells them; nothing but messages goes between them.
//
// Guarantees, by every implementation: send() returns at once and does not change the message; messages from one rank to another arrive in the order
// in which they were sent. A Comm belongs to the thread of its rank.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fd {

class Comm {
 public:
  using Message = std::shared_ptr<const std::vector<char>>;

  virtual ~Comm() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(int to, Message message) = 0;
  virtual Message receive(int from) = 0;  // waits for it
  virtual void expect(int) {}             // the next message from this rank is needed soon: it may be fetched meanwhile
  virtual bool in_one_process() const { return false; }  // what one rank has in memory the others can reach
  virtual void progress() {}  // lets messages on their way move; called several times a second while a rank computes

  // The work of this number is to end early on all ranks. Rank 0 numbers it: no number comes twice, or one stopped work would stop another.
  std::uint64_t new_work() { return ++last_work_; }
  virtual void ask_stop(std::uint64_t work) = 0;
  virtual bool stop_asked(std::uint64_t work) = 0;

 private:
  std::uint64_t last_work_ = 0;
};

// For programs that fit more than once: ranks other than 0 do what the fits of rank 0 (Options::comm) tell them, until rank 0 dismisses them.
// fit(points, options, comm) is these two around one fit.
void serve(Comm& comm);
void dismiss(Comm& comm);

}  // namespace fd
