// Memory runs out at every single allocation of a whole run: an exception that says so comes out, no object is lost, no file is left
// behind, and the next run gives the same numbers. Every 13th allocation unless FD_EVERY_ALLOCATION is set.
#include <cstdio>
#include <cstdlib>

#include "faults/injection.hpp"
#include "faults/whole_run.hpp"
#include "unit/io_fixture.hpp"

namespace fd::faults {
namespace {

class Allocation : public io_test::TemporaryFolder, public ::testing::WithParamInterface<bool> {};

TEST_P(Allocation, EveryOneMayFail) {
  const bool onwards = GetParam();
  write_table(few_points(), path("points.npy"));
  const auto clean = whole_run(folder_.string());
  whole_run(folder_.string());  // what is made once and kept has been made
  allocations.fail_at(never);
  ASSERT_EQ(whole_run(folder_.string()), clean);
  const long all = allocations.calls();
  allocations.off();
  ASSERT_GT(all, 100);
  const std::size_t files_before = files();

  const long stride = std::getenv("FD_EVERY_ALLOCATION") != nullptr ? 1 : 13;
  for (long n = 1; n <= all; n += stride) {
    SCOPED_TRACE("allocation " + std::to_string(n) + " of " + std::to_string(all));
    const long live = live_objects();
    enum { nothing, no_memory, clear_error, other } came = nothing;
    char what[400] = "nothing";  // no std::string: it would count as an object that lives
    allocations.fail_at(n, onwards);
    try {
      whole_run(folder_.string());
    } catch (const std::bad_alloc&) {
      came = no_memory;
    } catch (const Error& error) {
      came = error.kind() == Failure::memory || error.kind() == Failure::device ? no_memory : clear_error;  // device: no thread
      std::snprintf(what, sizeof what, "%s", error.what());
    } catch (const std::exception& error) {
      came = other;
      std::snprintf(what, sizeof what, "%s", error.what());
    }
    const bool reached = allocations.calls() >= n;
    allocations.off();
    ASSERT_EQ(live_objects(), live) << "objects were lost";
    ASSERT_TRUE(came == no_memory || (came == nothing && !(onwards && reached))) << "came out: " << what;
    ASSERT_EQ(files(), files_before);
  }
  EXPECT_EQ(whole_run(folder_.string()), clean);
}

INSTANTIATE_TEST_SUITE_P(Once, Allocation, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(FromThenOn, Allocation, ::testing::Values(true));

}  // namespace
}  // namespace fd::faults
