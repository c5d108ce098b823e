// What back-ends of one process do that reach each other's memory, beside what every Backend does: messages between their ranks say where things lie in
// place of what they hold.
//
// It stays there until the call that the message is part of is over on all ranks: whoever lends changes nothing of it meanwhile. What is borrowed is copied, and
// may still be on its way when these return: whatever is done with it waits for it.
#pragma once

#include <cstddef>
#include <memory>

#include "base/archive.hpp"
#include "device/panel.hpp"
#include "device/points.hpp"

namespace fd {

class Lender {
 public:
  virtual void lend_points(const Points& points, Archive& to) = 0;
  virtual std::unique_ptr<Points> borrow_points(Archive& from) = 0;
  virtual void skip_points(Archive& from) = 0;  // of a message, where a copy was kept
  virtual void lend(Columns a, Archive& to) = 0;
  virtual void borrow(Archive& from, Panel& to) = 0;  // into a panel of as many rows and columns
  // Whether there is memory to keep so many visitors from pass to pass, each with as many rows as these points.
  virtual bool keeps_visitors(const Points& like, std::size_t visitors) const = 0;

 protected:
  ~Lender() = default;
};

}  // namespace fd
