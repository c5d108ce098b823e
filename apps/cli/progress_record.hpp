// What a fit says while it runs, for machines and for later: JSON lines on standard error (--json-progress), and a log file (--log). Hands
// everything on to the display for people, which is silent where JSON lines are wanted.
//
// A line of JSON is one object with "event": "progress" (stage, n, beta, pass, pass_fraction, pairs_per_second, converged, wanted, fraction,
// seconds_left; null where unknown; fraction never falls, and is 1 at the end of a fit), at most four a second, "note" (text), "remark" (name, weight,
// sentence, action; of the model, at the end), or at last "end" (outcome, status, text). Complaints, also such that come before the fit, are JSON too
// (console.hpp). A line of the log is a time (UTC) and what a plain terminal would
// have shown. A log is appended to, line by line, so that it shows how far a fit came that was killed. Once it cannot be written to, it ends, and
// a remark says so: a fit is not lost for its log.
#pragma once

#include <chrono>
#include <fstream>
#include <string>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>

#include "common/progress_display.hpp"

namespace fd::cli {

class ProgressRecord final : public Observer {
 public:
  // log: a path, or empty. Throws Error(io) where it cannot be opened.
  ProgressRecord(bool quiet, bool json, const std::string& log);

  void progress(const Progress& progress) override;
  void note(const std::string& line) override;
  void remarks(const Model& model);
  // The last line of both. outcome: "done", "numbers" (not what was asked for), "interrupted" or "failed"; text: what there is to say of it.
  void end(const std::string& outcome, int status, const std::string& text);
  bool stop() override { return display_.stop(); }
  void clear() { display_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  void write(const std::string& line);
  void print(const Progress& progress);

  ProgressDisplay display_;
  bool json_;
  std::string path_;
  std::ofstream log_;
  std::string last_stage_;
  Progress last_;
  Clock::time_point last_json_{}, last_logged_{};
};

}  // namespace fd::cli
