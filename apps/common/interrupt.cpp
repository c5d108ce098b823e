#include "common/interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "common/console.hpp"
#include "common/exit_status.hpp"

namespace fd::cli {
namespace {

std::atomic<bool> requested{false};
std::atomic<int> at_once{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);  // safe in a handler

// Not where standard error is full: nobody may ever read it.
void tell(const char* text) {
  pollfd room = {STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) != 1) return;
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void leave() {
  static constexpr char event[] =
      "{\"event\":\"end\",\"outcome\":\"interrupted\",\"status\":130,\"text\":\"nothing was written\"}\n";
  if (speaks_json()) {
    tell(event);
    _exit(interrupted);
  }
  for (const char* piece : {"\n", program_name(), ": interrupted; nothing was written\n"}) tell(piece);
  _exit(interrupted);
}

extern "C" void on_signal(int) {
  requested.store(true);
  if (at_once.load() > 0) leave();
}

class InterruptibleSource final : public PointSource {
 public:
  explicit InterruptibleSource(std::unique_ptr<PointSource> source) : source_(std::move(source)) {}
  std::size_t rows() const override { return source_->rows(); }
  std::size_t dimension() const override { return source_->dimension(); }
  bool exact_in_float() const override { return source_->exact_in_float(); }
  std::vector<std::string> row_names() const override { return source_->row_names(); }
  std::vector<std::string> column_names() const override { return source_->column_names(); }
  std::vector<std::string> notes() const override { return source_->notes(); }

  void poll() override { throw_if_interrupted(); }

  // In pieces of at most 8 MB, so that one call for all rows of a slow file can be stopped too.
  void read(std::size_t first, std::size_t count, double* out) override {
    const std::size_t piece = std::max<std::size_t>(1, (std::size_t{1} << 20) / std::max<std::size_t>(1, dimension()));
    for (std::size_t done = 0; done < count; done += piece) {
      throw_if_interrupted();
      source_->read(first + done, std::min(piece, count - done), out + done * dimension());
    }
  }

 private:
  std::unique_ptr<PointSource> source_;
};

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGXCPU, &action, nullptr);  // a limit on processor time, some time before it ends the process
  sigaction(SIGUSR1, &action, nullptr);  // what clusters send some time before they end a job
  struct sigaction before = {};
  // Under nohup the end of the session is to be ignored, and stays so.
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

bool interrupt_requested() { return requested.load(); }

void throw_if_interrupted() {
  if (requested.load()) throw Error(Failure::interrupted, "interrupted");
}

LeaveAtOnce::LeaveAtOnce() {
  at_once.fetch_add(1);
  if (requested.load()) leave();  // the signal came just before
}
LeaveAtOnce::~LeaveAtOnce() { at_once.fetch_sub(1); }

std::unique_ptr<PointSource> interruptible(std::unique_ptr<PointSource> source) {
  return std::make_unique<InterruptibleSource>(std::move(source));
}

}  // namespace fd::cli
