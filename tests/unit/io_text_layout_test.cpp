// Text tables: header rows and row names, recognised, overridden, and always said.
#include <unistd.h>

#include "base/printable.hpp"
#include "io/open_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

using Names = std::vector<std::string>;

class IoTextLayout : public TemporaryFolder {
 protected:
  std::unique_ptr<PointSource> read(const std::string& content, const ReadOptions& options = {},
                                    const std::string& name = "x.csv") {
    return open_points({put(name, content)}, options);
  }
  // The values, the names, and words of the first note.
  void expect(const std::string& content, const std::vector<double>& values, const Names& names, const std::string& words,
              const ReadOptions& options = {}) {
    SCOPED_TRACE(content);
    const auto source = read(content, options);
    EXPECT_EQ(all_of(*source), values);
    EXPECT_EQ(source->row_names(), names);
    ASSERT_FALSE(source->notes().empty());
    EXPECT_NE(source->notes()[0].find(words), std::string::npos) << source->notes()[0];
  }
  Error refusal(const std::string& content, const ReadOptions& options = {}) {
    return error_of([&] { read(content, options); });
  }
};

TEST_F(IoTextLayout, HeadersOfNumbers) {
  expect("0,1,2\n0.5,1.5,2\n3,4,5\n", {0.5, 1.5, 2, 3, 4, 5}, {}, "line 1 is the header (\"0\", \"1\", \"2\")");
  expect("0,1\n0.5,1.5\n", {0.5, 1.5}, {}, "line 1 is the header");
  expect("1,2,3,4\n7,7,8,9\n", {7, 7, 8, 9}, {}, "line 1 is the header");
  expect("country,2019,2020\nFrance,1.5,2\nSpain,3,4\n", {1.5, 2, 3, 4}, {"France", "Spain"}, "(\"2019\", \"2020\")");
  expect("id,2019\n1,2.5\n-3,4e2\n", {1, 2.5, -3, 400}, {}, "(\"id\", \"2019\")");
  // rows of the same kind are rows
  expect("0,1\n2,3\n4,5\n", {0, 1, 2, 3, 4, 5}, {}, "no header");
  expect("1,2\n5,9\n", {1, 2, 5, 9}, {}, "no header");
  expect("0\n1.5\n2.5\n", {0, 1.5, 2.5}, {}, "no header");
  expect("3,4,5\n0.5,1.5,2\n", {3, 4, 5, 0.5, 1.5, 2}, {}, "no header");
  expect("0,1,2,3\n0,1,2,3\n1,1,1,1\n", {0, 1, 2, 3, 0, 1, 2, 3, 1, 1, 1, 1}, {}, "no header");
}

TEST_F(IoTextLayout, AMistakeInTheFirstLineIsNoHeader) {
  EXPECT_TRUE(says(refusal("1.5,2x,3.7\n1,2,3\n4,5,6\n"), "line 1, column 2: '2x' is not a number"));
  EXPECT_TRUE(says(refusal("1.5,2x,3.7\n1,2,3\n4,5,6\n"), "`header = yes`"));
  EXPECT_TRUE(says(refusal("O.5,2.5,3.5\n1,2,3\n4,5,6\n"), "line 1, column 1: 'O.5' is not a number"));
  EXPECT_TRUE(says(refusal("1,x\n3,4\n5,7\n"), "line 1, column 2: 'x' is not a number"));
  EXPECT_TRUE(says(refusal("1.5,2.5,oops\n1,2,3\n"), "line 1, column 3: 'oops' is not a number"));
}

TEST_F(IoTextLayout, RowNames) {
  const std::vector<double> values = {1.5, 2, 3, 4};
  const Names names = {"AAAC-1", "TTTG-1"};
  expect("cell,g1,g2\nAAAC-1,1.5,2\nTTTG-1,3,4\n", values, names, "column 1 (\"cell\") names the rows");
  expect("\"\",\"g1\",\"g2\"\n\"AAAC-1\",1.5,2\n\"TTTG-1\",3,4\n", values, names, "names the rows");
  expect("AAAC-1,1.5,2\nTTTG-1,3,4\n", values, names, "no header, column 1 names the rows");
  expect("g1 g2\nAAAC-1 1.5 2\nTTTG-1 3 4\n", values, names, "(\"g1\", \"g2\")");  // R's write.table
  expect("cell,0,1\nAAAC-1,1.5,2\nTTTG-1,3,4\n", values, names, "line 1 is the header");
  expect(",a,b\n0,1.5,2\n1,3,4\n", values, {"0", "1"}, "names the rows");
  expect("Unnamed: 0,a,b\n10,1.5,2\n20,3,4\n", values, {"10", "20"}, "(\"Unnamed: 0\") names the rows");
  expect("ID,a,b\n7,1.5,2\n9,3,4\n", values, {"7", "9"}, "(\"ID\") names the rows");
  expect("id,a\n1.5,2\n3,4\n", values, {}, "no row names");
  expect("n,x\n\"say \"\"hi\"\", you\",1\nb,2\n", {1, 2}, {"say \"hi\", you", "b"}, "names the rows");
  expect("n;x\nK\xf6ln;1,5\nBonn;2\n", {1.5, 2}, {"Köln", "Bonn"}, "Latin-1");
  EXPECT_TRUE(says(refusal("a\nb\nc\n"), "'b' is not a number"));
  EXPECT_TRUE(says(refusal("n,x\n" + std::string(2000, 'a') + ",1\n"), "a row name of 2000 bytes"));
}

TEST_F(IoTextLayout, ACountOfRowsIsSaid) {
  const auto counted = read("t,x\n1,5\n2,7\n3,1\n");
  EXPECT_EQ(counted->dimension(), 2u);
  ASSERT_EQ(counted->notes().size(), 2u);
  EXPECT_NE(counted->notes()[1].find("column 1 (\"t\") counts the rows"), std::string::npos);
  EXPECT_EQ(read("0,5\n1,7\n2,1\n")->notes().size(), 2u);
  EXPECT_EQ(read("t,x\n1,5\n2,7\n4,1\n")->notes().size(), 1u);
}

TEST_F(IoTextLayout, Overridden) {
  ReadOptions no_header, header, no_names, last, second, wrong;
  no_header.header = false;
  header.header = true;
  no_names.names = "none";
  last.names = "species";
  second.names = "2";
  wrong.names = "genus";
  expect("0,1\n0.5,1.5\n", {0, 1, 0.5, 1.5}, {}, "no header", no_header);
  expect("7,8\n0.5,1.5\n", {0.5, 1.5}, {}, "header (\"7\", \"8\")", header);
  expect("id,x\n7,1.5\n9,2\n", {7, 1.5, 9, 2}, {}, "no row names", no_names);
  expect("x,species\n1,setosa\n2,virginica\n", {1, 2}, {"setosa", "virginica"}, "column 2 (\"species\") names the rows", last);
  expect("1,setosa\n2,virginica\n", {1, 2}, {"setosa", "virginica"}, "no header, column 2 names the rows", second);
  EXPECT_EQ(refusal("x,species\n1,setosa\n", wrong).kind(), Failure::misuse);
  EXPECT_TRUE(says(refusal("x,species\n1,setosa\n", wrong), "no column 'genus'"));
  EXPECT_TRUE(says(refusal("x,species\n1,setosa\n"), "`names = 2`"));
}

TEST_F(IoTextLayout, StackedNames) {
  put("a.csv", "n,x\na,1\nb,2\n");
  put("b.csv", "n,x\nc,3\n");
  put("c.csv", "x\n4\n");
  EXPECT_EQ(open_points({path("a.csv"), path("b.csv")})->row_names(), (Names{"a", "b", "c"}));
  const auto some = open_points({path("a.csv"), path("c.csv")});
  EXPECT_TRUE(some->row_names().empty());
  EXPECT_NE(some->notes().back().find("row names are left out"), std::string::npos);
}

TEST(Printable, NothingReachesTheTerminal) {
  EXPECT_EQ(printable("plain ä 漢 🙂"), "plain ä 漢 🙂");
  EXPECT_EQ(printable("a\x1b[31mb\r\n\t"), "a\\x1b[31mb\\x0d\\x0a\\x09");
  EXPECT_EQ(printable("a\nb\x7f", true), "a\nb\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xc2\x9b\xe2\x80\xae"), "\\xc2\\x9b\\xe2\\x80\\xae");  // a C1 control, a mark that turns text round
  EXPECT_EQ(as_utf8("K\xf6ln"), "Köln");
  EXPECT_EQ(as_utf8("Köln"), "Köln");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += {static_cast<char>(byte), 'x', static_cast<char>(255 - byte)};
  EXPECT_TRUE(valid_utf8(printable(all)));
  EXPECT_TRUE(valid_utf8(as_utf8(all)));
}

}  // namespace
}  // namespace fd::io_test
