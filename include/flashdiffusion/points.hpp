// Observations as the library sees them: a view of rows in memory, an owning table, and a source that can be read piece by
// piece (a file larger than memory). All are row-major.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <flashdiffusion/error.hpp>

namespace fd {

// Rows in the caller's memory; not owned. float or double. fit and transform refuse a null pointer to rows (misuse).
class PointsView {
 public:
  PointsView() = default;
  PointsView(const float* data, std::size_t rows, std::size_t dimension) : data_(data), rows_(rows), dimension_(dimension) {}
  PointsView(const double* data, std::size_t rows, std::size_t dimension) : data_(data), rows_(rows), dimension_(dimension) {}

  std::size_t rows() const { return rows_; }
  std::size_t dimension() const { return dimension_; }
  // A null pointer to rows that ought to be there.
  bool missing() const {
    return rows_ > 0 && dimension_ > 0 && std::visit([](auto data) { return data == nullptr; }, data_);
  }

  // Copies rows [first, first + count) to `out`, count × dimension.
  void read(std::size_t first, std::size_t count, double* out) const {
    std::visit(
        [&](auto data) {
          if (data == nullptr && count * dimension_ > 0) throw Error(Failure::misuse, "the points are a null pointer");
          for (std::size_t i = 0; i < count * dimension_; ++i) out[i] = data[first * dimension_ + i];
        },
        data_);
  }

 private:
  std::variant<const float*, const double*> data_ = static_cast<const float*>(nullptr);
  std::size_t rows_ = 0;
  std::size_t dimension_ = 0;
};

// Anything rows can be read from, in any order, without the whole being in memory. Implementations: views, tables, files.
class PointSource {
 public:
  virtual ~PointSource() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual void read(std::size_t first, std::size_t count, double* out) = 0;
  // Called by whoever works on what was read, several times a second; may throw to stop the work.
  virtual void poll() {}
  // True where no value needs more than float32 to be exact: the fit then need not keep doubles for later.
  virtual bool exact_in_float() const { return false; }
  // Names of the rows, one each, where the source has them; empty otherwise.
  virtual std::vector<std::string> row_names() const { return {}; }
  // Names of the columns, one each, some of them empty or the same perhaps, where the source has them; else empty. Columns are taken by position.
  virtual std::vector<std::string> column_names() const { return {}; }
  // What was taken for what when the source was opened, a sentence each; for people, and for the record.
  virtual std::vector<std::string> notes() const { return {}; }
};

class ViewSource final : public PointSource {
 public:
  explicit ViewSource(PointsView view) : view_(view) {
    if (view.missing())
      throw Error(Failure::misuse, "the pointer to the points is null", "pass the address of rows × dimension values");
  }
  std::size_t rows() const override { return view_.rows(); }
  std::size_t dimension() const override { return view_.dimension(); }
  void read(std::size_t first, std::size_t count, double* out) override { view_.read(first, count, out); }

 private:
  PointsView view_;
};

// An owning rows × columns table of float or of double.
class Table {
 public:
  Table() = default;
  Table(std::size_t rows, std::size_t columns, bool wide) : rows_(rows), columns_(columns) {
    if (wide) values_ = std::vector<double>(rows * columns);
    else values_ = std::vector<float>(rows * columns);
  }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  bool wide() const { return std::holds_alternative<std::vector<double>>(values_); }
  bool empty() const { return rows_ * columns_ == 0; }

  double operator()(std::size_t row, std::size_t column) const {
    return std::visit([&](const auto& v) { return static_cast<double>(v[row * columns_ + column]); }, values_);
  }
  void set(std::size_t row, std::size_t column, double value) {
    std::visit([&](auto& v) { v[row * columns_ + column] = static_cast<typename std::decay_t<decltype(v)>::value_type>(value); },
               values_);
  }
  PointsView view() const {
    return std::visit([&](const auto& v) { return PointsView(v.data(), rows_, columns_); }, values_);
  }
  // f(std::vector<float>&) or f(std::vector<double>&)
  template <class F>
  decltype(auto) visit(F&& f) {
    return std::visit(static_cast<F&&>(f), values_);
  }
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(static_cast<F&&>(f), values_);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::variant<std::vector<float>, std::vector<double>> values_;
};

}  // namespace fd
