// Counts and rows as sentences have them.
#include <gtest/gtest.h>

#include "base/counted.hpp"

namespace fd {
namespace {

TEST(Counted, OneAndMany) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
  EXPECT_EQ(counted(1, "pass"), "1 pass");
  EXPECT_EQ(counted(3, "pass"), "3 passes");
  EXPECT_EQ(counted_shape(900, 1), "900 rows and 1 column");
}

TEST(Counted, RowsAreListedFromOne) {
  EXPECT_EQ(listed_rows({17}, 3), "row 18");
  EXPECT_EQ(listed_rows({0, 4, 8}, 3), "rows 1, 5, 9");
  EXPECT_EQ(listed_rows({0, 4, 8}, 2), "rows 1, 5, ...");
}

}  // namespace
}  // namespace fd
