#include "common/console.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"
#include "common/flag_names.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {

namespace {
const char* program = "flashdiffusion";
bool json_lines = false;

// 0, or what failed; EINTR: whoever reads did not, and an interrupt was requested. A pipe that has room takes PIPE_BUF bytes without blocking,
// so that all waiting is done by poll, a little at a time: a signal may come just before it.
int write_whole(int stream, const std::string& text) {
  constexpr int a_moment = 100;  // milliseconds
  std::size_t written = 0;
  while (written < text.size()) {
    pollfd room = {stream, POLLOUT, 0};
    if (const int ready = poll(&room, 1, a_moment); ready == 0 || (ready < 0 && errno == EINTR)) {
      if (interrupt_requested()) return EINTR;
      continue;
    }
    const ssize_t count = write(stream, text.data() + written, std::min<std::size_t>(text.size() - written, PIPE_BUF));
    if (count >= 0) written += static_cast<std::size_t>(count);
    else if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return 0;
}

void write_error_line(const std::string& line) { write_whole(STDERR_FILENO, line + "\n"); }

// In ASCII, so that showing it safely changes nothing.
std::string json_text(const nlohmann::ordered_json& event) {
  return event.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}
}  // namespace

void name_program(const char* name) { program = name; }
const char* program_name() { return program; }

void guard_standard_streams() {
  for (int stream = 0; stream < 3; ++stream) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is the gap itself. Read-only for the outputs: a write then fails with EBADF, as it should.
    const int opened = open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
    if (opened != stream && opened >= 0) close(opened);
  }
}

void print_result(const std::string& text, const std::string& written) {
  const int failed = write_whole(STDOUT_FILENO, text);
  if (failed == EPIPE) throw ClosedPipe();
  if (failed == 0) return;
  const std::string before = written.empty() ? "" : "; written before: " + written;
  if (failed == EINTR)
    throw Error(Failure::interrupted, "interrupted while the result was printed" + before, "what was printed is not whole");
  throw Error(Failure::io, fmt::format("standard output: could not write the result: {}{}", std::strerror(failed), before),
              "check where the output is sent");
}

void remark(const std::string& line) {
  if (json_lines) return write_error_line(json_text({{"event", "remark"}, {"text", with_flags(line)}}));
  write_error_line(printable(with_flags(line), true));
}

void speak_json() { json_lines = true; }
bool speaks_json() { return json_lines; }
void print_end(const std::string& outcome, int status, const std::string& text) {
  write_error_line(json_text({{"event", "end"}, {"outcome", outcome}, {"status", status}, {"text", with_flags(text)}}));
}
void print_event(const std::string& json) { write_error_line(json); }

void complain(const std::string& what, const std::string& hint) {
  if (json_lines)
    return write_error_line(json_text({{"event", "error"}, {"text", with_flags(what)}, {"hint", with_flags(hint)}}));
  const std::string line = fmt::format("{}: {}", program, printable(what));
  remark(hint.empty() ? line : line + "\n  " + printable(hint));
}

bool errors_on_terminal() { return isatty(STDERR_FILENO) == 1; }

bool colour_on_terminal() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return errors_on_terminal() && (refused == nullptr || *refused == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.{}f} {}", bytes, bytes < 9.95 ? 1 : 0, units[unit]);
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) return "?";
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(std::fmin(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole / 3600 % 24);
}

}  // namespace fd::cli
