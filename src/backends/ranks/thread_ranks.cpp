#include "backends/ranks/thread_ranks.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "backends/ranks/call.hpp"

namespace fd::ranks {

// A box for each ordered pair of ranks.
class ThreadRanks::Post {
 public:
  explicit Post(std::size_t size) : size_(size), boxes_(size * size) {}
  std::size_t size() const { return size_; }

  void put(std::size_t from, std::size_t to, Comm::Message message) {
    Box& box = boxes_[from * size_ + to];
    {
      const std::lock_guard lock(box.mutex);
      box.messages.push_back(std::move(message));
    }
    box.came.notify_one();
  }
  Comm::Message take(std::size_t from, std::size_t to) {
    Box& box = boxes_[from * size_ + to];
    std::unique_lock lock(box.mutex);
    box.came.wait(lock, [&] { return !box.messages.empty(); });
    Comm::Message message = std::move(box.messages.front());
    box.messages.pop_front();
    return message;
  }

  std::atomic<std::uint64_t> stopped{0};  // the last work that is to end early

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable came;
    std::deque<Comm::Message> messages;
  };
  std::size_t size_;
  std::vector<Box> boxes_;
};

class ThreadRanks::ThreadComm final : public Comm {
 public:
  ThreadComm(std::shared_ptr<Post> post, std::size_t rank) : post_(std::move(post)), rank_(rank) {}
  int rank() const override { return static_cast<int>(rank_); }
  int size() const override { return static_cast<int>(post_->size()); }
  void send(int to, Message message) override { post_->put(rank_, static_cast<std::size_t>(to), std::move(message)); }
  Message receive(int from) override { return post_->take(static_cast<std::size_t>(from), rank_); }
  bool in_one_process() const override { return true; }
  void ask_stop(std::uint64_t work) override {
    std::uint64_t last = post_->stopped.load();
    while (last < work && !post_->stopped.compare_exchange_weak(last, work)) {
    }
  }
  bool stop_asked(std::uint64_t work) override { return post_->stopped.load() >= work; }

 private:
  std::shared_ptr<Post> post_;
  std::size_t rank_;
};

ThreadRanks::ThreadRanks(int size, std::function<void(Comm&)> body)
    : post_(std::make_shared<Post>(static_cast<std::size_t>(size))) {
  for (int rank = 0; rank < size; ++rank) comms_.push_back(std::make_unique<ThreadComm>(post_, static_cast<std::size_t>(rank)));
  try {
    for (int rank = 1; rank < size; ++rank)
      threads_.emplace_back([body, &comm = *comms_[static_cast<std::size_t>(rank)]] { body(comm); });
  } catch (const std::system_error& refusal) {
    for (std::size_t rank = 1; rank <= threads_.size(); ++rank) comms_[0]->send(static_cast<int>(rank), to_message(Call{}));
    for (std::thread& thread : threads_) thread.join();
    throw Error(Failure::device,
                "only " + std::to_string(threads_.size() + 1) + " of " + std::to_string(size) +
                    " ranks could be started: " + refusal.what(),
                "ask for fewer ranks");
  }
}

ThreadRanks::~ThreadRanks() {
  for (std::thread& thread : threads_) thread.join();
}

Comm& ThreadRanks::rank0() { return *comms_.front(); }

}  // namespace fd::ranks
