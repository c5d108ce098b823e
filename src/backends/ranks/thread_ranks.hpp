// Ranks as threads of one process: what tests run on, and what several GPUs are driven by. Messages are handed over, not copied.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <flashdiffusion/comm.hpp>

namespace fd::ranks {

class ThreadRanks {
 public:
  // Starts ranks 1, ..., size - 1, each with its own Comm; they run `body` and end when it does.
  ThreadRanks(int size, std::function<void(Comm&)> body);
  ~ThreadRanks();  // waits for all: rank 0 has told them to end
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;

  Comm& rank0();

 private:
  class Post;
  class ThreadComm;
  std::shared_ptr<Post> post_;
  std::vector<std::unique_ptr<ThreadComm>> comms_;
  std::vector<std::thread> threads_;
};

}  // namespace fd::ranks
