// The journal of a fit: what every step of it found, in order. A step is a probe, a solve, an extension, whatever takes passes; what lies
// between steps is decided from their results alone, so a fit that is given the journal of an earlier, interrupted one plays it back, result after
// result, and is where that one was: it calls the same loop. With the results goes the state of the rung that made the last one, the eigenpairs that
// somebody still holds, and within a long solve the state of that solve.
//
// Kept in a Checkpoint, if there is one, which stays until its owner removes it: after a step, and within a solve every few minutes, where the cost stays below a fiftieth of the time; and
// when the fit is interrupted. A checkpoint that cannot be written is remarked on once, and the fit goes on.
//
// Does not know: what steps compute.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <flashdiffusion/checkpoint.hpp>
#include <flashdiffusion/error.hpp>

#include "base/archive.hpp"
#include "solver/block_lanczos.hpp"

namespace fd {

class Journal final : public SolveKeeper {
 public:
  // `fit`: what must be the same for an earlier journal to be played back, as pairs of a name and a value. Throws Error(misuse) where the
  // checkpoint holds another fit's. `seconds`: between two writings within a solve; below zero: chosen.
  using Identity = std::vector<std::pair<std::string, std::string>>;
  Journal(Checkpoint* place, Identity fit, double seconds, std::function<void(const std::string&)> note);
  Journal() : Journal(nullptr, {}, -1, {}) {}

  // What a rung carries from step to step.
  class Rung {
   public:
    virtual ~Rung() = default;
    virtual void archive_small(Archive& archive) = 0;  // what is read between steps; archived with every step
    virtual void archive_large(Archive& archive) = 0;  // the rest
  };

  // One step: `make` computes it, `result` archives what came of it. In playing back, `make` is not called.
  void step(const std::string& name, Rung& rung, const std::function<void()>& make, const std::function<void(Archive&)>& result);

  // The large part of a step's result, which is kept as long as somebody holds it: archived by `large`, and restored where the step is played
  // back and was still held. To be called within `result`.
  template <class T>
  void hold(const std::shared_ptr<T>& held, std::function<void(Archive&, T&)> large) {
    hold_large({playing_back() ? played_ : steps_.size(), held,
                [weak = std::weak_ptr<T>(held), large = std::move(large)](Archive& archive) {
                  if (const auto alive = weak.lock()) large(archive, *alive);
                }});
  }

  // The solve that was under way when the journal was last written, where this step is the one: its state. Null: begin it.
  std::unique_ptr<ArchiveReader> unfinished_solve();
  // What stands before the state of a solve, for the steps to come: the operator.
  void set_solve_prefix(std::function<void(Archive&)> prefix) { solve_prefix_ = std::move(prefix); }

  // Of a solve (SolveKeeper); nothing is kept without a checkpoint.
  SolveKeeper* keeper() { return place_ != nullptr ? this : nullptr; }
  bool due() override;
  void keep(const std::function<void(Archive&)>& state) override;

  void resumed() override { found_ = {}; }  // all of it has been read

  double seconds_before() const { return seconds_before_; }  // that earlier, interrupted runs took
  void finish();                                             // all steps are made: what was not written of them is

 private:
  using Clock = std::chrono::steady_clock;
  struct Step {
    std::string name;
    std::vector<char> result;
  };
  struct Held {
    std::size_t step;
    std::weak_ptr<void> owner;
    std::function<void(Archive&)> archive;
  };
  friend void archive(Archive& archive, Step& step) { archive(step.name, step.result); }

  bool playing_back() const { return played_ < steps_.size(); }
  void load();
  Error named(const Error& error) const;
  void hold_large(Held held);
  void save(const std::function<void(Archive&)>* solve);
  double since_last() const { return std::chrono::duration<double>(Clock::now() - last_).count(); }

  Checkpoint* place_;
  Identity fit_;
  double seconds_;
  std::function<void(const std::string&)> note_;
  std::vector<Step> steps_;
  std::size_t played_ = 0;
  Rung* rung_ = nullptr;
  std::vector<Held> held_;
  std::function<void(Archive&)> solve_prefix_;
  bool complained_ = false;
  std::size_t written_ = 0;  // steps
  // of the checkpoint that was found, until it has been played back
  std::vector<char> found_;
  ArchiveReader rung_state_, solve_state_;
  std::vector<std::pair<std::size_t, ArchiveReader>> held_states_;
  bool solve_found_ = false, solve_kept_ = false;
  double seconds_before_ = 0, cost_ = 0;
  Clock::time_point began_ = Clock::now(), last_ = began_;
};

}  // namespace fd
