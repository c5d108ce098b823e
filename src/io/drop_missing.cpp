#include "io/drop_missing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "base/pieces.hpp"

namespace fd {
namespace {

constexpr const char* left_out = " left out (";  // as it stands in the notes of a model

class CompleteRows final : public PointSource {
 public:
  CompleteRows(std::unique_ptr<PointSource> source, std::vector<std::size_t> kept, std::string note)
      : source_(std::move(source)), kept_(std::move(kept)), note_(std::move(note)) {}

  std::size_t rows() const override { return kept_.size(); }
  std::size_t dimension() const override { return source_->dimension(); }
  bool exact_in_float() const override { return source_->exact_in_float(); }

  // "row 7" instead of "7": a column of numbers in a file of labels may count from 0.
  std::vector<std::string> row_names() const override {
    std::vector<std::string> all = source_->row_names(), names;
    names.reserve(kept_.size());
    for (const std::size_t row : kept_) names.push_back(all.empty() ? fmt::format("row {}", row + 1) : std::move(all[row]));
    return names;
  }
  std::vector<std::string> column_names() const override { return source_->column_names(); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = source_->notes();
    notes.push_back(note_);
    return notes;
  }

  // Runs of neighbours are read together.
  void read(std::size_t first, std::size_t count, double* out) override {
    for (const std::size_t end = first + count; first < end;) {
      std::size_t last = first + 1;
      while (last < end && kept_[last] - kept_[first] == last - first) ++last;
      source_->read(kept_[first], last - first, out);
      out += (last - first) * dimension();
      first = last;
    }
  }

 private:
  std::unique_ptr<PointSource> source_;
  std::vector<std::size_t> kept_;
  std::string note_;
};

}  // namespace

std::unique_ptr<PointSource> without_missing(std::unique_ptr<PointSource> source) {
  const std::size_t n = source->rows(), dimension = source->dimension();
  std::vector<std::size_t> kept, dropped;
  bool missing = false, infinite = false;
  in_pieces(*source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      const double* row = rows + i * dimension;
      const bool nan = std::any_of(row, row + dimension, [](double value) { return std::isnan(value); });
      const bool inf = std::any_of(row, row + dimension, [](double value) { return std::isinf(value); });
      missing |= nan;
      infinite |= inf;
      (nan || inf ? dropped : kept).push_back(first + i);
    }
  });
  if (dropped.empty()) return source;
  const char* values = !infinite ? "missing values" : !missing ? "infinite values" : "missing or infinite values";
  if (kept.empty())
    throw Error(Failure::input, fmt::format("{} {}", n == 1 ? "the only row has" : fmt::format("all {} rows have", n), values),
                "fill the gaps, or leave the columns that have them out");
  std::string note =
      fmt::format("{} of {} {} {} and {}{}{}){}", dropped.size(), counted(n, "row"), one_or_many(dropped.size(), "has", "have"),
                  values, one_or_many(dropped.size(), "is", "are"), left_out, listed_rows(dropped, 20),
                  source->row_names().empty() ? "; the others are named by the numbers they had" : "");
  return std::make_unique<CompleteRows>(std::move(source), std::move(kept), std::move(note));
}

std::size_t rows_left_out(const std::string& provenance) {
  const std::size_t at = provenance.find(left_out);
  if (at == std::string::npos) return 0;
  const char* note = provenance.data() + provenance.rfind('"', at) + 1;  // it begins with their number
  std::size_t count = 1;
  std::from_chars(note, provenance.data() + at, count);
  return count;
}

}  // namespace fd
