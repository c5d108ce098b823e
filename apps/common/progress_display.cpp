#include "common/progress_display.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "common/console.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {
namespace {

constexpr auto between_frames = std::chrono::milliseconds(200);
constexpr auto between_lines = std::chrono::seconds(5);

std::size_t terminal_width() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool can_write_at_once() {
  pollfd descriptor = {STDERR_FILENO, POLLOUT, 0};
  return poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLOUT) != 0;
}

std::string rate_text(double pairs_per_second) {
  const char* units[] = {"", "k", "M", "G", "T", "P"};
  int unit = 0;
  while (pairs_per_second >= 1000 && unit < 5) {
    pairs_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}pairs/s", pairs_per_second, units[unit]);
}

}  // namespace

std::string describe_progress(const Progress& p, std::size_t width) {
  std::string text = p.stage;
  const auto add = [&](const std::string& part) {
    if (text.size() + 2 + part.size() <= width) text += "  " + part;
  };
  if (p.n > 0) add(fmt::format("n={}", p.n));
  if (p.beta > 0) add(fmt::format("beta={:.4g}", p.beta));
  if (p.pass > 0) add(fmt::format("pass {} ({:.0f} %)", p.pass, 100 * p.pass_fraction));
  if (p.seconds_left >= 0) add(duration_text(p.seconds_left) + " left");
  if (p.pairs_per_second > 0) add(rate_text(p.pairs_per_second));
  if (p.wanted > 0) add(fmt::format("{} of {} modes", p.converged, p.wanted));
  return text;
}

ProgressDisplay::ProgressDisplay(bool quiet)
    : quiet_(quiet), terminal_(errors_on_terminal()), colour_(colour_on_terminal()), last_(Clock::now()) {}

ProgressDisplay::~ProgressDisplay() { clear(); }

void ProgressDisplay::progress(const Progress& p) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(between_frames) : Clock::duration(between_lines))) return;
  last_ = now;
  if (!terminal_) return remark(describe_progress(p));
  if (!can_write_at_once()) return;
  // A line as wide as the terminal would wrap and could not be rewritten.
  const std::size_t width = terminal_width() - 1;
  const std::string line = describe_progress(p, width).substr(0, width);
  const std::size_t stage = std::min(p.stage.size(), line.size());
  const std::string frame =
      colour_ ? "\r\x1b[1m" + line.substr(0, stage) + "\x1b[0m" + line.substr(stage) + "\x1b[K" : "\r" + line + "\x1b[K";
  shown_ = true;
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, frame.data(), frame.size());
}

void ProgressDisplay::note(const std::string& line) {
  if (quiet_) return;
  clear();
  remark("note: " + line);
}

bool ProgressDisplay::stop() { return interrupt_requested(); }

void ProgressDisplay::clear() {
  if (!shown_) return;
  shown_ = false;
  if (!can_write_at_once()) return;
  constexpr char wipe[] = "\r\x1b[K";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, wipe, sizeof wipe - 1);
}

}  // namespace fd::cli
