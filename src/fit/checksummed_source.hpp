// The same points, watched: every reading of all rows in order is summed on the way. The first gives the checksum of the points, and a
// later one that differs throws Error(io), since a fit of points that change is a fit of nothing. (Two readings are compared by a sum that
// is quicker than the checksum, whose every step waits for the one before.) Readings of some rows, or in another
// order, pass unseen.
#pragma once

#include <limits>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/points.hpp>

#include "base/points_checksum.hpp"
#include "fit/stoppable_source.hpp"

namespace fd {

class ChecksummedSource final : public StoppableSource {
 public:
  explicit ChecksummedSource(PointSource& source, Observer* observer = nullptr) : StoppableSource(source, observer) {}

  void read(std::size_t first, std::size_t count, double* out) override {
    StoppableSource::read(first, count, out);
    if (first == 0) {
      sum_ = PointsChecksum();
      quick_ = QuickSum();
      next_ = 0;
    }
    if (first != next_) {
      next_ = out_of_order;
      return;
    }
    if (checksum_ == 0) sum_.add(out, count * dimension());
    quick_.add(out, count * dimension());
    next_ += count;
    if (next_ < rows()) return;
    if (checksum_ == 0) {
      checksum_ = sum_.value();
      first_quick_ = quick_;
    } else if (!(quick_ == first_quick_)) {
      throw Error(Failure::io, "the points changed while they were being read", "do not write to their file during a run");
    }
  }

  // Of all points; they are read once more where no reading was whole.
  std::uint64_t checksum() { return checksum_ != 0 ? checksum_ : points_checksum(*this); }

 private:
  static constexpr std::size_t out_of_order = std::numeric_limits<std::size_t>::max();
  PointsChecksum sum_;
  QuickSum quick_, first_quick_;
  std::size_t next_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace fd
