// Text tables: what is recognised and how errors are placed.
#include <fcntl.h>

#include <cmath>
#include <limits>

#include "io/open_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class IoText : public TemporaryFolder {
 protected:
  void same(const std::string& content, const std::string& name = "x.csv") {
    SCOPED_TRACE(content);
    const auto source = open_points({put(name, content)});
    ASSERT_EQ(source->rows(), 2u);
    ASSERT_EQ(source->dimension(), 2u);
    EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2.5, -3, 4e2}));
  }
  Error refusal(const std::string& content, const std::string& name = "x.csv") {
    Error error = error_of([&] { open_points({put(name, content)}); });
    EXPECT_EQ(error.kind(), Failure::input);
    return error;
  }
};

TEST_F(IoText, SeparatorsAndLineEnds) {
  same("1,2.5\n-3,4e2\n");
  same("1,2.5\n-3,4e2");
  same("1, 2.5\r\n-3 ,4e2\r\n");
  same("1\t2.5\n-3\t4e2\n", "x.tsv");
  same("1;2.5\n-3; 4E+2\n");
  same("1 2.5\n-3   4e2\n", "x.txt");
  same("  1 2.5  \n -3\t4e2\n", "x.txt");
  same("\n\n1,2.5\n\n-3,4e2\n\n");
}

TEST_F(IoText, HeadersCommentsQuotes) {
  same("x,y\n1,2.5\n-3,4e2\n");
  same("x y\n1 2.5\n-3 4e2\n", "x.txt");
  same("\"x, of a\",\"y\"\n1,2.5\n-3,4e2\n");
  same("id,2019\n1,2.5\n-3,4e2\n");
  same("\xef\xbb\xbfx,y\n1,2.5\n-3,4e2\n");
  same(
      "\xef\xbb\xbf"
      "1,2.5\n-3,4e2\n");
  same("# made by hand\n1,2.5 # first\n  # second\n-3,4e2\n");
  same("1\t2.5\t# first\n-3\t4e2\n", "x.tsv");
  same("\"1\",\"2.5\"\n\"-3\",\" 4e2 \"\n");
  same("+1,+2.5\n-3,+4e+2\n");
}

TEST_F(IoText, Values) {
  const auto source = open_points({put("x.csv", "nan,inf\n-inf,Infinity\n1e400,1e-400\n5e-324,0.1\n")});
  const auto values = all_of(*source);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], infinity);
  EXPECT_EQ(values[2], -infinity);
  EXPECT_EQ(values[3], infinity);
  EXPECT_EQ(values[4], infinity);
  EXPECT_EQ(values[5], 0);
  EXPECT_EQ(values[6], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(values[7], 0.1);
}

TEST_F(IoText, OneColumn) {
  for (const char* content : {"1\n2\n3\n", "x\n1\n2\n3\n"}) {
    const auto source = open_points({put("x.txt", content)});
    EXPECT_EQ(source->dimension(), 1u);
    EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2, 3}));
  }
}

TEST_F(IoText, PlacesOfErrors) {
  Error error = refusal("x,y,name\n1,2,3\n4,5,setosa\n");
  EXPECT_TRUE(says(error, path("x.csv") + ", line 3, column 3 (\"name\"): 'setosa' is not a number"));
  EXPECT_TRUE(says(refusal("1,2,setosa\n3,4,virginica\n"), "line 1, column 3: 'setosa' is not a number"));
  EXPECT_TRUE(says(refusal("1,2,setosa\n"), "line 1, column 3: 'setosa' is not a number"));
  EXPECT_TRUE(says(refusal("# c\n\nx,y\n1,2\n3\n"), "line 5: 1 cell, but line 3 has 2; column 2 is missing"));
  EXPECT_TRUE(says(refusal("1,2\n3,4,5\n"), "line 2: 3 cells, but line 1 has 2; column 3 is too many"));
  EXPECT_TRUE(says(refusal("x,y\n1,\n"), "line 2, column 2 (\"y\"): the cell is empty"));
  EXPECT_TRUE(says(refusal("1,2\n,4\n"), "line 2, column 1: the cell is empty"));
  EXPECT_TRUE(says(refusal("1,,2\n"), "line 1, column 2: the cell is empty"));
  EXPECT_TRUE(says(refusal("1\t2\n3\t\n", "x.tsv"), "line 2, column 2: the cell is empty"));
  EXPECT_TRUE(says(refusal("1,2\nNA,4\n"), "line 2, column 1: the cell is missing ('NA')"));
  EXPECT_TRUE(says(refusal("1,5;2,5\n3,5;4,5\n"), "decimal points"));
}

TEST_F(IoText, WhatIsNotATable) {
  EXPECT_TRUE(says(refusal(""), "is empty"));
  EXPECT_TRUE(says(refusal("\n# only a comment\n"), "holds no numbers"));
  EXPECT_TRUE(says(refusal("x,y\n"), "header row and no numbers"));
  EXPECT_TRUE(says(refusal(",a,b\n0,1.5,2.5\n"), "index=False"));
  EXPECT_TRUE(says(refusal(std::string("1,2\n3,\0\n", 8)), "line 2: not text"));
  EXPECT_TRUE(says(refusal("\x1f\x8b\x08"), "gzip"));
  EXPECT_TRUE(says(refusal("\xff\xfex"), "UTF-16"));
}

TEST_F(IoText, LongLinesAndManyRows) {
  // lines longer than the reading buffer, and more rows than a block of memory
  std::string wide, tall;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 200000; ++column)
      wide += std::to_string(row * 200000 + column) + (column == 199999 ? "\n" : ",");
  }
  for (int row = 0; row < 300000; ++row) tall += std::to_string(row) + " 0.5\n";
  const auto long_lines = open_points({put("wide.csv", wide)});
  ASSERT_EQ(long_lines->dimension(), 200000u);
  ASSERT_EQ(long_lines->rows(), 3u);
  const auto values = all_of(*long_lines);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
  const auto many_rows = open_points({put("tall.txt", tall)});
  ASSERT_EQ(many_rows->rows(), 300000u);
  std::vector<double> part(2 * 200000);
  many_rows->read(50000, 200000, part.data());
  for (std::size_t i = 0; i < 200000; ++i) ASSERT_EQ(part[2 * i], static_cast<double>(50000 + i));
}

TEST_F(IoText, StandardInput) {
  put("in", "x,y\n1,2\n3,4\n");
  const int kept = ::dup(0), file = ::open(path("in").c_str(), O_RDONLY);
  ::dup2(file, 0);
  const auto source = open_points({"-"});
  const Error error = error_of([] { open_points({"-"}); });
  ::dup2(kept, 0);
  ::close(kept);
  ::close(file);
  EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_TRUE(says(error, "standard input is empty"));
}

TEST_F(IoText, EveryPrefix) {
  const std::string whole = "\xef\xbb\xbf# c\r\n\"x\",y\r\n1,2.5\r\n-3,4e2\r\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      open_points({put("x.csv", whole.substr(0, length))});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::input);
    }
  }
}

}  // namespace
}  // namespace fd::io_test
