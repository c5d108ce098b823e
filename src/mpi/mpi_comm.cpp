#include <flashdiffusion/mpi.hpp>

#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <flashdiffusion/error.hpp>

namespace fd {
namespace {

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(Failure::device, std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(std::max(0, length))),
              "see what the MPI library says above");
}

// Longer messages travel in pieces behind their length: MPI counts in int.
constexpr std::size_t piece = std::size_t{1} << 30;
constexpr int whole = 1, length_of_pieces = 2;

class MpiComm final : public Comm {
 public:
  MpiComm() {
    int ready = 0;
    MPI_Initialized(&ready);
    if (ready == 0) {
      int provided = 0;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
      owner_ = true;
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_), "MPI_Comm_dup");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &stops_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(stops_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(messages_, &rank_);
    MPI_Comm_size(messages_, &size_);
  }
  ~MpiComm() override {
    while (!sent_.empty()) {
      release_sent();
      std::this_thread::yield();
    }
    if (!owner_) return;
    take_stops();
    MPI_Barrier(messages_);
    MPI_Finalize();
  }
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, Message message) override {
    release_sent();
    const std::size_t bytes = message->size();
    if (bytes <= piece) return post(to, message->data(), bytes, whole, message);
    auto length = std::make_shared<std::vector<char>>(sizeof(std::uint64_t));
    const std::uint64_t count = bytes;
    std::memcpy(length->data(), &count, sizeof count);
    post(to, length->data(), length->size(), length_of_pieces, length);
    for (std::size_t first = 0; first < bytes; first += piece)
      post(to, message->data() + first, std::min(piece, bytes - first), whole, message);
  }

  // What there is no memory for is taken all the same, or the next message would be read in its place.
  Message receive(int from) override {
    auto [tag, message] = take(from);
    if (tag == whole) return std::make_shared<const std::vector<char>>(std::move(message));
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, message.data(), sizeof bytes);
    std::vector<char> all;
    std::exception_ptr error;
    const auto attempt = [&error](const auto& step) {
      try {
        step();
      } catch (const Error& failed) {
        if (failed.kind() != Failure::memory) throw;
        error = std::current_exception();
      } catch (const std::bad_alloc&) {
        error = std::current_exception();
      }
    };
    attempt([&] { all.reserve(bytes); });
    for (std::uint64_t first = 0; first < bytes; first += piece)
      attempt([&] {
        const std::vector<char> next = take(from).second;
        if (!error) all.insert(all.end(), next.begin(), next.end());
      });
    if (error) std::rethrow_exception(error);
    return std::make_shared<const std::vector<char>>(std::move(all));
  }

  void expect(int from) override {
    if (!expected_) expected_.emplace(from);
  }
  void progress() override {
    release_sent();
    if (expected_) fetch(*expected_);
  }

  void ask_stop(std::uint64_t work) override {
    if (stopped_ >= work) return;
    stopped_ = work;
    auto number = std::make_shared<std::vector<char>>(sizeof work);
    std::memcpy(number->data(), &work, sizeof work);
    for (int other = 0; other < size_; ++other)
      if (other != rank_) {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(number->data(), static_cast<int>(number->size()), MPI_BYTE, other, whole, stops_, &request), "MPI_Isend");
        sent_.push_back({request, number});
      }
  }
  bool stop_asked(std::uint64_t work) override {
    take_stops();
    return stopped_ >= work;
  }

 private:
  struct Sent {
    MPI_Request request;
    Message message;
  };
  // A message that is fetched while its receiver computes.
  struct Expected {
    explicit Expected(int rank) : from(rank) {}
    int from, tag = whole;
    MPI_Message found = MPI_MESSAGE_NULL;  // matched, and to be received by nobody else, whether there is memory for it or not
    int bytes = 0;
    bool begun = false;
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<char> message;
  };

  void post(int to, const char* data, std::size_t bytes, int tag, const Message& owner) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, messages_, &request), "MPI_Isend");
    sent_.push_back({request, owner});
  }

  void release_sent() {
    std::erase_if(sent_, [](Sent& one) {
      int done = 0;
      MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  // Whether all of it is here.
  bool fetch(Expected& one) {
    if (one.found == MPI_MESSAGE_NULL && !one.begun) {
      int there = 0;
      MPI_Status status;
      check(MPI_Improbe(one.from, MPI_ANY_TAG, messages_, &there, &one.found, &status), "MPI_Improbe");
      if (there == 0) {
        one.found = MPI_MESSAGE_NULL;
        return false;
      }
      MPI_Get_count(&status, MPI_BYTE, &one.bytes);
      one.tag = status.MPI_TAG;
    }
    if (!one.begun) {
      one.message.resize(static_cast<std::size_t>(one.bytes));
      check(MPI_Imrecv(one.message.data(), one.bytes, MPI_BYTE, &one.found, &one.request), "MPI_Imrecv");
      one.begun = true;
    }
    int done = 0;
    check(MPI_Test(&one.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  // A message that was matched and has no memory here is received into pages that are promised to nobody, and forgotten.
  [[noreturn]] void drop(Expected& one) {
    const auto bytes = static_cast<std::size_t>(std::max(1, one.bytes));
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    MPI_Mrecv(pages, one.bytes, MPI_BYTE, &one.found, MPI_STATUS_IGNORE);
    munmap(pages, bytes);
    const int from = one.from;
    const double megabytes = one.bytes / 1048576.0;
    if (expected_ && &one == &*expected_) expected_.reset();
    char what[96];
    std::snprintf(what, sizeof what, "no memory for the %.1f MiB that rank %d sent", megabytes, from);
    throw Error(Failure::memory, what, "use more machines, or fewer ranks on each");
  }

  // Waits politely: a rank that has nothing to do leaves the core to others.
  std::pair<int, std::vector<char>> take(int from) {
    Expected other(from);
    Expected& one = expected_ && expected_->from == from ? *expected_ : other;
    const auto here = [&] {
      try {
        return fetch(one);
      } catch (const std::bad_alloc&) {
        drop(one);
      }
    };
    for (int tries = 0; !here(); ++tries) {
      release_sent();
      if (one.begun) continue;  // it is on its way, and where it is copied piece by piece each look moves one
      if (tries > 2000) std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000, tries / 20)));
      else if (tries > 200) std::this_thread::yield();
    }
    std::pair<int, std::vector<char>> taken(one.tag, std::move(one.message));
    if (&one != &other) expected_.reset();
    return taken;
  }

  void take_stops() {
    for (;;) {
      int there = 0;
      MPI_Status status;
      MPI_Message found = MPI_MESSAGE_NULL;
      check(MPI_Improbe(MPI_ANY_SOURCE, whole, stops_, &there, &found, &status), "MPI_Improbe");
      if (there == 0) return;
      std::uint64_t work = 0;
      check(MPI_Mrecv(&work, sizeof work, MPI_BYTE, &found, &status), "MPI_Mrecv");
      stopped_ = std::max(stopped_, work);
    }
  }

  MPI_Comm messages_ = MPI_COMM_NULL, stops_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool owner_ = false;
  std::vector<Sent> sent_;
  std::optional<Expected> expected_;
  std::uint64_t stopped_ = 0;
};

}  // namespace

std::unique_ptr<Comm> mpi_comm() { return std::make_unique<MpiComm>(); }

}  // namespace fd

// By a name that a program finds at run time.
extern "C" fd::Comm* flashdiffusion_mpi_comm() { return fd::mpi_comm().release(); }
