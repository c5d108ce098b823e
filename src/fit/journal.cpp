#include "fit/journal.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

namespace fd {
namespace {

constexpr double share = 1.0 / 50;     // of the time that may be spent on writing
constexpr double solve_seconds = 180;  // between two writings within a solve
constexpr char title[] = "flashdiffusion-checkpoint 1";

// A part of the whole that is skipped without being understood: its length, then its bytes. The length is known by writing it twice, the first
// time to nowhere: parts are as large as a basis.
void put_part(Archive& archive, const std::function<void(Archive&)>& part) {
  std::uint64_t length = 0;
  ArchiveWriter counter([&](const void*, std::size_t bytes) { length += bytes; });
  part(counter);
  archive(length);
  part(archive);
}

ArchiveReader take_part(const std::vector<char>& whole, ArchiveReader& reader) {
  std::uint64_t length = 0;
  reader(length);
  if (length > reader.left()) throw Error(Failure::input, "it ends too early");
  const char* from = whole.data() + (whole.size() - reader.left());
  ArchiveReader part(from, static_cast<std::size_t>(length));
  reader = ArchiveReader(from + length, static_cast<std::size_t>(reader.left() - length));
  return part;
}

}  // namespace

Journal::Journal(Checkpoint* place, Identity fit, double seconds, std::function<void(const std::string&)> note)
    : place_(place), fit_(std::move(fit)), seconds_(seconds), note_(std::move(note)) {
  if (place_ == nullptr) return;
  try {
    load();
  } catch (const Error& error) {
    throw named(error);
  }
}

// Of what was read from the checkpoint.
Error Journal::named(const Error& error) const {
  if (error.kind() != Failure::input || std::string(error.what()).rfind(place_->name(), 0) == 0) return error;
  return {Failure::input, fmt::format("{}: {}", place_->name(), error.what()),
          error.hint().empty() ? "the checkpoint is damaged: remove it to begin anew" : error.hint()};
}

void Journal::load() {
  std::optional<std::vector<char>> bytes = place_->load();
  if (!bytes) return;
  found_ = std::move(*bytes);
  ArchiveReader reader(found_.data(), found_.size());
  std::string kind = title;
  const std::vector<char> expected = archived([&](Archive& archive) { archive(kind); });
  if (found_.size() < expected.size() || !std::equal(expected.begin(), expected.end(), found_.begin()))
    throw Error(Failure::input, "it is not a checkpoint that this version has written", "name another file");
  reader(kind);
  std::vector<std::string> names, values;
  reader(names, values);
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < fit_.size(); ++i) {
    const bool known = i < names.size() && i < values.size() && names[i] == fit_[i].first;
    if (!known || values[i] != fit_[i].second)
      differences.push_back(fmt::format("{} {} there, {} here", fit_[i].first, known ? values[i] : "unknown", fit_[i].second));
  }
  if (!differences.empty())
    throw Error(Failure::misuse,
                fmt::format("{} is the checkpoint of another fit: {}", place_->name(), fmt::join(differences, "; ")),
                "repeat that fit's options to go on with it, or remove the file to begin anew");
  reader(seconds_before_, steps_);
  rung_state_ = take_part(found_, reader);
  std::size_t held = 0;
  reader(held);
  for (std::size_t i = 0; i < held; ++i) {
    std::size_t step = 0;
    reader(step);
    held_states_.emplace_back(step, take_part(found_, reader));
  }
  reader(solve_found_);
  if (solve_found_) solve_state_ = take_part(found_, reader);
  if (note_)
    note_(fmt::format("going on from {}: {} steps, {:.0f} s of work{}", place_->name(), steps_.size(), seconds_before_,
                      solve_found_ ? ", and a solve under way" : ""));
}

void Journal::hold_large(Held held) {
  if (place_ == nullptr) return;
  if (playing_back())
    for (auto& [step, state] : held_states_)
      if (step == held.step) held.archive(state);
  held_.push_back(std::move(held));
}

void Journal::step(const std::string& name, Rung& rung, const std::function<void()>& make,
                   const std::function<void(Archive&)>& result) {
  const auto archive_all = [&](Archive& archive) {
    result(archive);
    rung.archive_small(archive);
  };
  if (playing_back()) {
    const Step& recorded = steps_[played_];
    if (recorded.name != name)
      throw Error(Failure::input,
                  fmt::format("{}: its step {} is {}, and this fit wants {}", place_->name(), played_ + 1, recorded.name, name),
                  "remove it to begin anew");
    try {
      ArchiveReader reader(recorded.result.data(), recorded.result.size());
      archive_all(reader);
      rung_ = &rung;
      written_ = ++played_;
      if (played_ < steps_.size()) return;
      rung.archive_large(rung_state_);
    } catch (const Error& error) {
      throw named(error);
    }
    held_states_.clear();
    if (!solve_found_) found_ = {};
    return;
  }
  solve_kept_ = false;
  try {
    make();
  } catch (const Error& error) {
    if (solve_found_ && place_ != nullptr) throw named(error);
    if (error.kind() == Failure::interrupted && place_ != nullptr && !solve_kept_ && !steps_.empty()) save(nullptr);
    throw;
  }
  solve_found_ = false;
  found_ = {};
  if (place_ == nullptr) return;
  steps_.push_back({name, archived(archive_all)});
  played_ = steps_.size();
  rung_ = &rung;
  if (seconds_ == 0 || (since_last() > 1 && cost_ <= share * since_last())) save(nullptr);
}

std::unique_ptr<ArchiveReader> Journal::unfinished_solve() {
  if (!solve_found_ || playing_back()) return nullptr;
  return std::make_unique<ArchiveReader>(solve_state_);
}

bool Journal::due() {
  return place_ != nullptr &&
         (seconds_ >= 0 ? since_last() >= seconds_ : since_last() > solve_seconds && cost_ <= share * since_last());
}

void Journal::keep(const std::function<void(Archive&)>& state) {
  const std::function<void(Archive&)> whole = [&](Archive& archive) {
    if (solve_prefix_) solve_prefix_(archive);
    state(archive);
  };
  save(&whole);
  solve_kept_ = true;
}

void Journal::save(const std::function<void(Archive&)>* solve) {
  const auto started = Clock::now();
  std::erase_if(held_, [](const Held& held) { return held.owner.expired(); });
  try {
    place_->save([&](const Checkpoint::Put& put) {
      ArchiveWriter writer(put);
      std::string kind = title;
      std::vector<std::string> names, values;
      for (const auto& [name, value] : fit_) {
        names.push_back(name);
        values.push_back(value);
      }
      double seconds = seconds_before_ + std::chrono::duration<double>(started - began_).count();
      writer(kind, names, values, seconds, steps_);
      put_part(writer, [&](Archive& archive) {
        if (rung_ != nullptr) rung_->archive_large(archive);
      });
      std::size_t count = held_.size();
      writer(count);
      for (Held& held : held_) {
        writer(held.step);
        put_part(writer, held.archive);
      }
      bool with_solve = solve != nullptr;
      writer(with_solve);
      if (solve != nullptr) put_part(writer, *solve);
    });
  } catch (const Error& error) {
    if (note_ && !complained_) note_(fmt::format("the checkpoint was not written: {}; the fit goes on without it", error.what()));
    complained_ = true;
  }
  written_ = steps_.size();
  last_ = Clock::now();
  cost_ = std::chrono::duration<double>(last_ - started).count();
}

// Whoever has the model still has to write it.
void Journal::finish() {
  if (place_ != nullptr && written_ < steps_.size() && (seconds_ == 0 || since_last() > 10 * cost_ + 1)) save(nullptr);
}

}  // namespace fd
