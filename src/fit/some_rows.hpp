// Some of the rows of a source, as a source: a rung of the ladder, or what is left when rows are trimmed. Rows that lie near each other
// are read together, so that a file sees few and long reads. It knows nothing of what the values mean.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

class SomeRows final : public PointSource {
 public:
  // `rows`: which, ascending.
  SomeRows(PointSource& source, std::vector<std::size_t> rows) : source_(source), rows_(std::move(rows)) {}

  std::size_t rows() const override { return rows_.size(); }
  std::size_t dimension() const override { return source_.dimension(); }
  bool exact_in_float() const override { return source_.exact_in_float(); }
  std::vector<std::string> row_names() const override;  // without names of their own rows keep their numbers, "row 7"
  void read(std::size_t first, std::size_t count, double* out) override;
  void poll() override { source_.poll(); }

 private:
  PointSource& source_;
  std::vector<std::size_t> rows_;
  std::vector<double> buffer_;
};

}  // namespace fd
