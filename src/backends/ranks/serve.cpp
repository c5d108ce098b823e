#include "backends/ranks/serve.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "backends/ranks/call.hpp"
#include "backends/ranks/shard.hpp"

namespace fd::ranks {
namespace {

Reply failure(Failure kind, std::string what, std::string hint = {}) {
  return {true, kind, std::move(what), std::move(hint), {}};
}

// What the exception at hand is to rank 0.
Reply current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return failure(error.kind(), error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    return failure(Failure::memory, "not enough memory");
  } catch (const std::exception& error) {
    return failure(Failure::device, error.what());
  } catch (...) {
    return failure(Failure::device, "an unknown failure");
  }
}

class Server {
 public:
  explicit Server(Comm& comm) : comm_(comm) {}

  void run() {
    for (;;) {
      const Call call = from_message<Call>(comm_.receive(0));
      if (call.verb == Verb::finish) return;
      std::vector<double> numbers;
      try {
        numbers = execute(call);
      } catch (...) {
        if (!error_.failed) error_ = current_failure();
        if (call.work != 0) comm_.ask_stop(call.work);
      }
      if (!is_answered(call.verb)) continue;
      Reply reply = std::exchange(error_, {});
      reply.numbers = std::move(numbers);
      comm_.send(0, to_message(std::move(reply)));
    }
  }

 private:
  // Messages of a call are taken even where an error is kept, so that none is left for the next.
  std::vector<double> execute(const Call& call) {
    switch (call.verb) {
      case Verb::open:
        shard_.reset();
        error_ = {};
        shard_ = std::make_unique<Shard>(comm_, call);
        return {};
      case Verb::close: shard_.reset(); return {};
      case Verb::load: return load(call);
      case Verb::upload: {
        const Comm::Message rows = comm_.receive(0);
        if (healthy()) shard_->upload(call, from_message<std::vector<double>>(rows).data());
        return {};
      }
      case Verb::download: return healthy() ? shard_->download(call) : std::vector<double>();
      default: break;
    }
    if (!shard_) throw Error(Failure::device, "this rank has no back-end");
    return healthy() || call.work != 0 ? shard_->run(call, nullptr, !healthy()) : std::vector<double>();
  }

  // Rows come in pieces, an empty one ends them; then what they are part of. A piece that there is no memory for is no reason not to take the rest.
  std::vector<double> load(const Call& call) {
    std::vector<double> rows;
    for (bool more = true; more;) try {
        const auto piece = from_message<std::vector<double>>(comm_.receive(0));
        more = !piece.empty();
        if (healthy() && rows.empty()) rows.reserve(shard_->values_here(call));
        if (healthy()) rows.insert(rows.end(), piece.begin(), piece.end());
      } catch (...) {
        Reply failed = current_failure();
        if (failed.kind != Failure::memory) throw;
        if (!error_.failed) error_ = std::move(failed);
        rows = {};
      }
    const Whole whole = from_message<Whole>(comm_.receive(0));
    if (healthy()) shard_->load(call, std::move(rows), call.columns, whole);
    return {};
  }

  bool healthy() const { return shard_ && !error_.failed; }

  Comm& comm_;
  std::unique_ptr<Shard> shard_;
  Reply error_;
};

}  // namespace

void serve(Comm& comm) { Server(comm).run(); }

void dismiss(Comm& comm) {
  Call call;
  call.verb = Verb::finish;
  for (int rank = 1; rank < comm.size(); ++rank) comm.send(rank, to_message(call));
}

}  // namespace fd::ranks
