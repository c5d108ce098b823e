// Shows where a fit is. On a terminal: one line, rewritten in place, a few times a second at most and never when the terminal
// cannot take it at once. Elsewhere: a plain line every few seconds. Asked whether to stop, it answers with the interrupt flag.
#pragma once

#include <chrono>
#include <string>

#include <flashdiffusion/options.hpp>

namespace fd::cli {

// What there is to say, the most important first, as much of it as fits.
std::string describe_progress(const Progress& progress, std::size_t width = std::string::npos);

class ProgressDisplay final : public Observer {
 public:
  explicit ProgressDisplay(bool quiet);
  ~ProgressDisplay() override;
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void progress(const Progress& progress) override;
  void note(const std::string& line) override;
  bool stop() override;
  void clear();  // wipes the line

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_, colour_;
  bool shown_ = false;
  Clock::time_point last_;
};

}  // namespace fd::cli
