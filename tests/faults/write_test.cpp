// The disk fills up at every single write: Error(io) names the file, what stood there before is untouched, nothing lies beside it.
#include "faults/injection.hpp"
#include "faults/whole_run.hpp"
#include "unit/io_fixture.hpp"

namespace fd::faults {
namespace {

class Write : public io_test::TemporaryFolder {
 protected:
  void TearDown() override {
    writes.off();
    short_writes = false;
    TemporaryFolder::TearDown();
  }

  // `action` writes `name`. Returns how many writes it takes. `onwards`: the disk stays full.
  long fails_at_each(const std::string& name, bool onwards, const std::function<void()>& action) {
    put(name, "what stood there before");
    for (long n = 1;; ++n) {
      SCOPED_TRACE(name + ", write " + std::to_string(n) + (onwards ? " and all after it" : ""));
      writes.fail_at(n, onwards);
      bool failed = false;
      try {
        action();
      } catch (const Error& error) {
        failed = true;
        writes.off();
        EXPECT_EQ(error.kind(), Failure::io) << error.what();
        EXPECT_TRUE(io_test::says(error, name));
        EXPECT_FALSE(error.hint().empty());
      }
      const bool reached = writes.calls() >= n;
      writes.off();
      EXPECT_EQ(files(), 1u);
      if (!reached) {
        EXPECT_FALSE(failed);
        return n - 1;
      }
      if (failed) EXPECT_EQ(get(name), "what stood there before");
      else
        put(name, "what stood there before");  // a failure that does no harm: space that cannot be reserved, a folder not flushed
      if (HasFailure() || n > 1000) return n;
    }
  }
};

TEST_F(Write, ModelFile) {
  const Table points = few_points();
  const Model model = fit(points.view(), few_modes());
  for (const bool onwards : {false, true})
    EXPECT_GT(fails_at_each("model.h5", onwards, [&] { save_model(model, path("model.h5")); }), 3);
}

TEST_F(Write, Coordinates) {
  for (const char* name : {"out.npy", "out.csv"}) {
    for (const bool onwards : {false, true})
      EXPECT_GT(fails_at_each(name, onwards, [&] { write_table(few_points(), path(name)); }), 2);
    std::filesystem::remove(path(name));
  }
}

TEST_F(Write, TakenInPartsAreTheSameBytes) {
  const Model model = fit(few_points().view(), few_modes());
  for (const bool parts : {false, true}) {
    short_writes = parts;
    const std::string which = parts ? "parts" : "whole";
    save_model(model, path(which + ".h5"));
    write_table(few_points(), path(which + ".npy"));
    write_table(few_points(), path(which + ".csv"));
  }
  short_writes = false;
  for (const char* suffix : {".h5", ".npy", ".csv"})
    EXPECT_EQ(get(std::string("whole") + suffix), get(std::string("parts") + suffix)) << suffix;
}

}  // namespace
}  // namespace fd::faults
