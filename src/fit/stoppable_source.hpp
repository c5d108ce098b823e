// The same points, with an observer who is asked at each reading, and at each poll, whether to stop: Error(interrupted) where it wishes so. A
// large table takes seconds to read and to put in order.
#pragma once

#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

class StoppableSource : public PointSource {
 public:
  StoppableSource(PointSource& source, Observer* observer) : source_(source), observer_(observer) {}
  std::size_t rows() const override { return source_.rows(); }
  std::size_t dimension() const override { return source_.dimension(); }
  bool exact_in_float() const override { return source_.exact_in_float(); }
  std::vector<std::string> row_names() const override { return source_.row_names(); }
  std::vector<std::string> notes() const override { return source_.notes(); }

  void poll() override {
    if (observer_ != nullptr && observer_->stop()) throw Error(Failure::interrupted, "interrupted");
    source_.poll();
  }

  void read(std::size_t first, std::size_t count, double* out) override {
    poll();
    source_.read(first, count, out);
  }

 private:
  PointSource& source_;
  Observer* observer_;
};

}  // namespace fd
