// Threads that the system refuses: the fit says so or does with fewer, and gives the same numbers where it gives any.
#include "faults/injection.hpp"
#include "faults/whole_run.hpp"
#include "unit/io_fixture.hpp"

namespace fd::faults {
namespace {

using Thread = io_test::TemporaryFolder;

TEST_F(Thread, EveryOneMayFailToStart) {
  write_table(few_points(), path("points.npy"));
  Options options = few_modes();
  options.threads = 5;
  const auto clean = whole_run(folder_.string(), options);
  bool reached = true;
  for (long n = 1; reached; ++n) {
    SCOPED_TRACE("thread " + std::to_string(n));
    const long live = live_objects();
    threads.fail_at(n, true);
    try {
      EXPECT_EQ(whole_run(folder_.string(), options), clean);
    } catch (const Error& error) {
      EXPECT_FALSE(error.hint().empty()) << error.what();
    }
    reached = threads.calls() >= n;
    threads.off();
    EXPECT_EQ(live_objects(), live);
    EXPECT_EQ(files(), 3u);
  }
}

}  // namespace
}  // namespace fd::faults
