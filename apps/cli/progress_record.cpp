#include "cli/progress_record.hpp"

#include <cerrno>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/provenance.hpp"
#include "cli/summary.hpp"
#include "common/console.hpp"
#include "common/flag_names.hpp"
#include "io/bytes.hpp"

namespace fd::cli {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr auto between_json = 250ms;
constexpr auto between_logged = 5s;

void print_json(const Json& event) { print_event(event.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)); }

Json known(double value, bool is_known) { return is_known && std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

ProgressRecord::ProgressRecord(bool quiet, bool json, const std::string& log) : display_(quiet || json), json_(json), path_(log) {
  if (log.empty()) return;
  log_.open(log, std::ios::app);
  if (!log_) throw system_error("write", log, errno);
}

void ProgressRecord::write(const std::string& line) {
  if (!log_.is_open()) return;
  log_ << utc_now() << "  " << line << std::endl;
  if (log_) return;
  log_.close();
  remark(fmt::format("note: {} cannot be written to any more; the fit goes on without its log", path_));
}

void ProgressRecord::progress(const Progress& p) {
  display_.progress(p);
  last_ = p;
  const auto now = Clock::now();
  const bool another = p.stage != last_stage_;
  last_stage_ = p.stage;
  if (log_.is_open() && (another || now - last_logged_ >= between_logged)) {
    last_logged_ = now;
    write(describe_progress(p));
  }
  if (!json_ || (!another && now - last_json_ < between_json)) return;
  last_json_ = now;
  print(p);
}

void ProgressRecord::print(const Progress& p) {
  print_json({{"event", "progress"},
              {"stage", p.stage},
              {"n", p.n},
              {"beta", known(p.beta, p.beta > 0)},
              {"pass", p.pass},
              {"pass_fraction", p.pass_fraction},
              {"pairs_per_second", known(p.pairs_per_second, p.pairs_per_second > 0)},
              {"converged", p.converged},
              {"wanted", p.wanted},
              {"fraction", known(p.fraction, p.fraction > 0)},
              {"seconds_left", known(p.seconds_left, p.seconds_left >= 0)}});
}

void ProgressRecord::note(const std::string& line) {
  display_.note(line);
  write("note: " + with_flags(line));
  if (json_) print_json({{"event", "note"}, {"text", with_flags(line)}});
}

void ProgressRecord::remarks(const Model& model) {
  for (Json remark : remarks_json(model)) {
    write(fmt::format("remark {} ({}): {} {}", remark["name"].get<std::string>(), remark["weight"].get<std::string>(),
                      remark["sentence"].get<std::string>(), remark["action"].get<std::string>()));
    if (!json_) continue;
    Json event = {{"event", "remark"}};
    event.update(remark);
    print_json(event);
  }
}

void ProgressRecord::end(const std::string& outcome, int status, const std::string& text) {
  clear();
  write(text.empty() ? outcome : fmt::format("{}: {}", outcome, with_flags(text)));
  if (json_ && (outcome == "done" || outcome == "numbers")) {
    last_.pass_fraction = last_.fraction = 1;
    last_.seconds_left = 0;
    print(last_);
  }
  if (json_) print_end(outcome, status, text);
}

}  // namespace fd::cli
