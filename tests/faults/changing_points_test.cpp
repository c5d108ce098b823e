// Points that change while they are read: a file that is cut, and rows that become NaN or other numbers between two readings. A fit
// reads its points more than once, so what the first reading found out may no longer hold.
#include <cmath>
#include <limits>
#include <thread>

#include <flashdiffusion/fit.hpp>

#include "faults/whole_run.hpp"
#include "unit/io_fixture.hpp"

namespace fd::faults {
namespace {

// Counts readings of the first row, and lets the rows be replaced from the n-th on.
class Changing final : public PointSource {
 public:
  Changing(const Table& before, const Table& after, int from) : before_(before), after_(after), from_(from) {}
  std::size_t rows() const override { return before_.rows(); }
  std::size_t dimension() const override { return before_.columns(); }
  void read(std::size_t first, std::size_t count, double* out) override {
    if (first == 0) ++readings_;
    (readings_ >= from_ ? after_ : before_).view().read(first, count, out);
  }
  int readings() const { return readings_; }

 private:
  const Table &before_, &after_;
  int from_, readings_ = 0;
};

class ChangingPoints : public io_test::TemporaryFolder {};

TEST_F(ChangingPoints, NanOnALaterReading) {
  const Table before = few_points();
  Table after = before;
  after.set(7, 1, std::numeric_limits<double>::quiet_NaN());
  for (int from = 1;; ++from) {
    SCOPED_TRACE("from reading " + std::to_string(from));
    Changing source(before, after, from);
    try {
      const Model model = fit(source, few_modes());
      if (source.readings() < from) break;
      ADD_FAILURE() << "no error, converged: " << model.converged;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), Failure::misuse) << error.what();
      EXPECT_FALSE(error.hint().empty()) << error.what();
    }
    ASSERT_LT(from, 20);
  }
}

// Numbers that are as good as those before, but others: a model of neither table.
TEST_F(ChangingPoints, OtherNumbersOnALaterReading) {
  const Table before = few_points();
  Table after = before;
  after.set(7, 1, 0.25);
  for (const bool flow : {false, true})
    for (int from = 2;; ++from) {
      SCOPED_TRACE("from reading " + std::to_string(from) + (flow ? ", flow on" : ""));
      Changing source(before, after, from);
      Options options = few_modes();
      if (flow) options.beta.reset();
      try {
        fit(source, options);
        if (source.readings() < from) break;
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), Failure::misuse) << error.what();
        EXPECT_FALSE(error.hint().empty()) << error.what();
      }
      ASSERT_LT(from, 20);
    }
}

// Cuts the file to half when the fit has begun.
class Scissors final : public Observer {
 public:
  explicit Scissors(std::string file) : file_(std::move(file)) {}
  bool stop() override {
    if (!done_) std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
    done_ = true;
    return false;
  }

 private:
  std::string file_;
  bool done_ = false;
};

TEST_F(ChangingPoints, NpyCutWhileItIsRead) {
  write_table(few_points(), path("points.npy"));
  const auto source = open_points({path("points.npy")});
  std::filesystem::resize_file(path("points.npy"), 200);
  std::vector<double> values(rows * dimension);
  const Error error = io_test::error_of([&] { source->read(0, rows, values.data()); });
  EXPECT_EQ(error.kind(), Failure::io);
  EXPECT_TRUE(io_test::says(error, "points.npy"));
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(ChangingPoints, NpyCutDuringAFit) {
  write_table(few_points(), path("points.npy"));
  const auto source = open_points({path("points.npy")});
  Scissors scissors(path("points.npy"));
  Options options = few_modes();
  options.observer = &scissors;
  const Error error = io_test::error_of([&] { fit(*source, options); });
  EXPECT_EQ(error.kind(), Failure::io) << error.what();
}

// HDF5 itself takes zeros for what is no longer there.
TEST_F(ChangingPoints, Hdf5CutDuringAFit) {
  save_model(fit(few_points().view(), few_modes()), path("points.h5"));  // any file that holds a table will do
  for (const bool beside_threads : {false, true}) {
    std::filesystem::copy_file(path("points.h5"), path("cut.h5"), std::filesystem::copy_options::overwrite_existing);
    const auto cut_during_fit = [&] {
      const auto source = open_points({path("cut.h5") + ":/points"});
      Scissors scissors(path("cut.h5"));
      Options options = few_modes();
      options.observer = &scissors;
      const Error error = io_test::error_of([&] { fit(*source, options); });
      EXPECT_EQ(error.kind(), Failure::io) << error.what();
      EXPECT_TRUE(io_test::says(error, "cut.h5"));
      EXPECT_FALSE(error.hint().empty());
    };
    if (beside_threads) std::thread(cut_during_fit).join();  // no child process then
    else cut_during_fit();
  }
}

TEST_F(ChangingPoints, TextIsReadOnce) {
  write_table(few_points(), path("points.csv"));
  const auto source = open_points({path("points.csv")});
  Scissors scissors(path("points.csv"));
  Options options = few_modes();
  options.observer = &scissors;
  EXPECT_TRUE(fit(*source, options).converged);
}

}  // namespace
}  // namespace fd::faults
