// Where a long fit keeps what it has found so far, so that the same fit, called again, goes on from there. Plain bytes: a file
// (CheckpointFile), or whatever a caller derives.
//
// A fit given a checkpoint writes to it after probes and solves and, within a long solve, every few minutes, and once more when it is
// interrupted. It stays when the fit is done: whoever has the model removes it, once that is where it belongs. One that holds the state of other points, other options or another version throws
// Error(misuse) with what differs. Bits of the result are those of a fit that was never interrupted, whatever the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fd {

class Checkpoint {
 public:
  using Put = std::function<void(const void* data, std::size_t bytes)>;

  virtual ~Checkpoint() = default;
  virtual std::string name() const = 0;  // for messages
  // What is kept, whole; nothing where nothing is. Damage throws Error(input).
  virtual std::optional<std::vector<char>> load() = 0;
  // Replaces what is kept by the bytes that `write` puts, whole or not at all. Failure throws Error(io), and what was kept before stays.
  virtual void save(const std::function<void(const Put&)>& write) = 0;
  virtual void remove() = 0;
};

// A file that appears by rename, with a checksum of all its bytes.
class CheckpointFile final : public Checkpoint {
 public:
  explicit CheckpointFile(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return path_; }
  std::optional<std::vector<char>> load() override;
  void save(const std::function<void(const Put&)>& write) override;
  void remove() override;

 private:
  std::string path_;
};

}  // namespace fd
