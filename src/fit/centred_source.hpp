// The points as the kernel should see them: an origin in their midst removed in fp64, columns that do not vary dropped (distances do not
// change, the cost does), and, for a rung of the ladder, only some of the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

#include "base/pieces.hpp"
#include "fit/some_rows.hpp"

namespace fd {

// What two readings of all rows tell.
//
// The origin is the mean. A single value of 1e16 moves the mean of a thousand rows by 1e13, though, and what is then left of the others
// is a few digits. Where the farthest row dwarfs others, and where fp64 is to keep what it promises, the origin is, coordinate by coordinate, zero where the
// values of a sample have both signs, else the one nearest zero, rounded to a multiple of the last digit of the largest: then x - origin is a
// multiple of the last digit of x and hardly larger than x, so that no row loses a digit, wherever the parts of the table lie.
struct PointSummary {
  std::size_t rows = 0, dimension = 0;
  std::vector<double> mean;          // the origin
  std::vector<std::size_t> varying;  // columns that are not constant
  double mean_square = 0;            // of |x - mean| over the rows; of |x - median| where the mean lies where no row does
  // [varying column][coordinate]: an orthonormal basis that rows are expressed in, where they span fewer dimensions than columns
  // (exact_rank.hpp); empty: the columns themselves.
  std::vector<double> basis;
  std::size_t coordinates() const { return basis.empty() ? varying.size() : basis.size() / varying.size(); }

  // Distances are taken from the sample's median.
  struct Place {
    std::size_t row = 0, column = 0;
    double value = 0, distance = 0;
  };
  Place farthest;                  // the row, and its column that lies farthest out
  double extent = 0;               // within it lie 95 of 100 rows of the sample
  std::vector<std::size_t> dwarf;  // rows beyond 30 extents; empty where they are more than 5 in 100: the table is made of parts
  std::size_t parted = 0;          // then: how many rows lie beyond 10^6 times the distance of the nearer half; else 0
};

// Throws Error(input) for NaN or infinity (row and column named, the others counted), for values whose squares overflow, and for points
// that are all equal. `precision`: of the fit, for which the origin is.
PointSummary summarise(PointSource& source, const std::vector<Precision>& precision);

// Throws Error(input) where a row lies so far out that coordinates of these precisions cannot hold both it and the rest. `beta`: where it
// is given; Error(misuse) where it, and no row, is what makes coordinates too large.
void refuse_what_precision_cannot_hold(const PointSummary& summary, const std::vector<Precision>& precision,
                                       std::optional<double> beta = {});

// One line about rows so far out that they alone decide what a bandwidth search (where there is one) sees. Empty where there are none but
// those `aside`, ascending: of them it is said elsewhere.
std::string describe_dwarfing(const PointSummary& summary, bool search, const std::vector<std::string>& names = {},
                              const std::vector<std::size_t>& aside = {});

class CentredSource final : public PointSource {
 public:
  // `rows`: which rows, ascending; empty means all.
  CentredSource(PointSource& source, const PointSummary& summary, std::vector<std::size_t> rows = {})
      : source_(source), summary_(summary) {
    if (!rows.empty()) some_.emplace(source, std::move(rows));
  }

  std::size_t rows() const override { return some_ ? some_->rows() : source_.rows(); }
  std::size_t dimension() const override { return summary_.coordinates(); }
  void read(std::size_t first, std::size_t count, double* out) override;
  void poll() override { source_.poll(); }

 private:
  PointSource& source_;
  const PointSummary& summary_;
  std::optional<SomeRows> some_;
  std::vector<double> buffer_, columns_;
};

}  // namespace fd
