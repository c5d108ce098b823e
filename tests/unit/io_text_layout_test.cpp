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
  expect("country,2001,2002\nFrance,15,2\nSpain,3,4\n", {15, 2, 3, 4}, {"France", "Spain"}, "(\"2001\", \"2002\")");
  expect("site,1990,2015\nA,15,2\nB,3,4\n", {15, 2, 3, 4}, {"A", "B"}, "(\"1990\", \"2015\")");
  expect("gene,10,20\nA,15.5,2\nB,3,4\n", {15.5, 2, 3, 4}, {"A", "B"}, "(\"10\", \"20\")");
  expect("Sample_ID,0.5,0.1\nA,15.5,2\nB,3,4\n", {15.5, 2, 3, 4}, {"A", "B"}, "(\"0.5\", \"0.1\")");
  expect(",7,3\nA,1,2\nB,3,4\n", {1, 2, 3, 4}, {"A", "B"}, "(\"7\", \"3\")");             // pandas
  expect("2001 2005\nA 1 2\nB 3 4\n", {1, 2, 3, 4}, {"A", "B"}, "(\"2001\", \"2005\")");  // R
  expect("leaf,700,650,600,550\nA,1,2,1,2.5\nB,3,4,5,6\n", {1, 2, 1, 2.5, 3, 4, 5, 6}, {"A", "B"}, "(\"700\", \"650\"");
  expect("leaf,1.5,2.5,3.5,4.5,5.5,6.5\nA,1,2,1,2,1,2\n", {1, 2, 1, 2, 1, 2}, {"A"}, "(\"1.5\", \"2.5\"");
  expect("id,2019\n1,2.5\n-3,4e2\n", {1, 2.5, -3, 400}, {}, "(\"id\", \"2019\")");
  // rows of the same kind are rows
  expect("A,2001,2002\nB,1999,2003\n", {2001, 2002, 1999, 2003}, {"A", "B"}, "no header");
  expect("A,1.5,2,3,4\nB,3,1,2,2\n", {1.5, 2, 3, 4, 3, 1, 2, 2}, {"A", "B"}, "no header");
  expect("A,1,3,5,7,9,11\nB,2,4,6,8,9,10\n", {1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 9, 10}, {"A", "B"}, "no header");
  expect("cell_1,5,3\ncell_2,3,4\n", {5, 3, 3, 4}, {"cell_1", "cell_2"}, "no header");
  expect("sample,5,3\nstate,3,4\n", {5, 3, 3, 4}, {"sample", "state"}, "no header");
  expect("0,1\n2,3\n4,5\n", {0, 1, 2, 3, 4, 5}, {}, "no header");
  expect("1,2\n5,9\n", {1, 2, 5, 9}, {}, "no header");
  expect("0\n1.5\n2.5\n", {0, 1.5, 2.5}, {}, "no header");
  expect("3,4,5\n0.5,1.5,2\n", {3, 4, 5, 0.5, 1.5, 2}, {}, "no header");
  expect("0,1,2,3\n0,1,2,3\n1,1,1,1\n", {0, 1, 2, 3, 0, 1, 2, 3, 1, 1, 1, 1}, {}, "no header");
}

// What pandas numbers, in another order.
TEST_F(IoTextLayout, NumberedColumnsInAnotherOrder) {
  expect("2,0,1\n0.5,1.5,2\n3,4.5,5\n", {0.5, 1.5, 2, 3, 4.5, 5}, {}, "line 1 is the header (\"2\", \"0\", \"1\")");
  expect(",2,0,1\n0,0.5,1.5,2\n", {0.5, 1.5, 2}, {"0"}, "line 1 is the header");
  expect(",400,410\n0,1.5,2\n1,3,4\n", {1.5, 2, 3, 4}, {"0", "1"}, "line 1 is the header");  // wavelengths beside pandas' index
  expect(",2001,2005\n0,7,8\n1,3,4\n2,1,2\n", {7, 8, 3, 4, 1, 2}, {"0", "1", "2"}, "line 1 is the header");
  expect("\"\",\"700\",\"650\"\n\"3\",7,8\n\"9\",3,4\n\"8\",1,2\n", {7, 8, 3, 4, 1, 2}, {"3", "9", "8"}, "line 1 is the header");
  expect("2,0,1\nA,0.5,1.5,2\nB,1,2,3.5\n", {0.5, 1.5, 2, 1, 2, 3.5}, {"A", "B"}, "line 1 is the header");  // R
  for (const char* row : {"2,0,1\n0.5,1.5,2\n3,4,5\n", "2,0,1\n4,3,2\n", "foo,2,0,1\nA,4,3,2\n"}) {
    SCOPED_TRACE(row);
    const auto source = read(row);
    EXPECT_NE(source->notes()[0].find("no header"), std::string::npos);
    ASSERT_EQ(source->notes().size(), 2u);
    EXPECT_NE(source->notes()[1].find("line 1 is taken for a point"), std::string::npos);
  }
  EXPECT_THROW(read(",1.5,2.5,0.5\n0,1,2,3\n1,4,5,6\n"), Error) << "a value is missing, or a heading";
  for (const char* data : {"2,0,1\n1,0,2\n0,2,1\n", "1,0\n0.5,2\n", "2,0,2\n0.5,1,1\n", "3,1,2\n0.5,1,1\n"})
    EXPECT_EQ(read(data)->notes().size(), 1u) << data;
}

TEST_F(IoTextLayout, AMistakeInTheFirstLineIsNoHeader) {
  EXPECT_TRUE(says(refusal("1.5,2x,3.7\n1,2,3\n4,5,6\n"), "line 1, column 2: '2x' is not a number"));
  EXPECT_TRUE(says(refusal("1.5,2x,3.7\n1,2,3\n4,5,6\n"), "`header = yes`"));
  EXPECT_TRUE(says(refusal("O.5,2.5,3.5\n1,2,3\n4,5,6\n"), "line 1, column 1: 'O.5' is not a number"));
  for (const char* slip : {"O.5", "0.5.1", "-2x"})  // where 1, 2 might label columns
    EXPECT_TRUE(says(refusal(std::string(slip) + ",1,2\n0.5,1.5,2.5\n4,5,6\n"), "line 1, column 1: '" + std::string(slip) + "'"));
  EXPECT_TRUE(says(refusal("1,x\n3,4\n5,7\n"), "line 1, column 2: 'x' is not a number"));
  EXPECT_TRUE(says(refusal("1.5,2.5,oops\n1,2,3\n"), "line 1, column 3: 'oops' is not a number"));
}

// A first line that might be either is taken for a point, and the note says what to do about it.
TEST_F(IoTextLayout, ADoubtfulFirstLineIsSaid) {
  const auto doubtful = read("foo,10,20\nA,15.5,2\nB,3,4\n");
  EXPECT_EQ(doubtful->row_names(), (Names{"foo", "A", "B"}));
  ASSERT_EQ(doubtful->notes().size(), 2u);
  EXPECT_NE(doubtful->notes()[1].find("line 1 is taken for a point named \"foo\""), std::string::npos);
  EXPECT_NE(doubtful->notes()[1].find("`header = yes`"), std::string::npos);
  ReadOptions no_header;
  no_header.header = false;
  EXPECT_EQ(read("foo,10,20\nA,15.5,2\nB,3,4\n", no_header)->notes().size(), 1u);
  EXPECT_EQ(read("foo,1.5,20\nA,15.5,2\nB,3,4\n")->notes().size(), 1u);
  EXPECT_EQ(read("foo,10,20\n")->notes().size(), 1u) << "a single row";
}

// Numbers with a mistake in each are no header either.
TEST_F(IoTextLayout, AFirstLineOfMistakesIsNoHeader) {
  for (const char* first : {"0x10", "1'234", "\u22121.5", "O.5", "\"1,234.5\""}) {
    const Error error = refusal(std::string(first) + "\n2\n4\n");
    EXPECT_TRUE(says(error, "line 1, column 1")) << error.what();
    EXPECT_TRUE(says(error, "is not a number")) << error.what();
    EXPECT_TRUE(says(error, "`header = yes`")) << error.hint();
  }
  EXPECT_TRUE(says(refusal("0x10,0x20\n2,3\n"), "'0x10' is not a number"));
  EXPECT_TRUE(says(refusal("\"1,234\",\"5,000\"\n2,3\n"), "without thousands separators"));
  EXPECT_TRUE(says(refusal("A,\"1,234\",\"5,000\"\nB,2,3\n"), "line 1, column 2: '1,234' is not a number"));
  EXPECT_TRUE(says(refusal("2,3\nTrue,4\n"), "write 1 and 0"));
  expect("2nd,3rd\n2,3\n", {2, 3}, {}, "line 1 is the header");
  expect("16S,18S\n2,3\n", {2, 3}, {}, "line 1 is the header");
  expect("25%,75%\n2,3\n", {2, 3}, {}, "line 1 is the header");
  expect("2019-01-01,2019-02-01\n2,3\n", {2, 3}, {}, "line 1 is the header");
  expect("age,0x10\n2,3\n", {2, 3}, {}, "line 1 is the header");
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

TEST_F(IoTextLayout, ANumberSignInsideACellBelongsToIt) {
  const Names names = {"PB#AAAC", "PB#AAAG"};
  expect("cell,a,b\nPB#AAAC,1.5,2\nPB#AAAG,3,4\n", {1.5, 2, 3, 4}, names, "(\"a\", \"b\")");
  expect("cell,b#1,b #2\nPB#AAAC,1.5,2\nPB#AAAG,3,4\n", {1.5, 2, 3, 4}, names, "(\"b#1\", \"b #2\")");
  expect("cell #1,a\nPB#AAAC,1.5\nPB#AAAG,3\n", {1.5, 3}, names, "(\"cell #1\") names the rows");
  expect("PB#AAAC 1.5 2 # one\nPB#AAAG 3 4\n", {1.5, 2, 3, 4}, names, "no header");
  expect("sample\ta\nno. #1\t1.5\nno. #2\t3\n", {1.5, 3}, {"no. #1", "no. #2"}, "separated by tabs");
  ReadOptions last;
  last.names = "3";
  expect("a,b,cell\n1.5,2,PB#AAAC\n3,4,PB#AAAG\n", {1.5, 2, 3, 4}, names, "column 3 (\"cell\") names the rows", last);
  EXPECT_TRUE(says(refusal("1,2.5 # first\n3,4\n"), "a line of its own"));
}

TEST_F(IoTextLayout, ErrorsOfSpreadsheetsAreMissingValues) {
  ReadOptions drop;
  drop.missing = Missing::drop_rows;
  for (const std::string word : {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "<NA>"})
    for (const std::string separator : {",", ";", "\t", " "})
      for (const bool first : {true, false}) {
        const std::string broken = first ? word + separator + "5" : "5" + separator + word;
        const std::string row = "1" + separator + "2.5\n", content = row + broken + "\n" + row;
        SCOPED_TRACE(content);
        EXPECT_TRUE(says(refusal(content), "missing values in 1 of 3 rows"));
        EXPECT_EQ(read(content, drop)->rows(), 2u);
        EXPECT_EQ(read(broken + "\n" + row + row, drop)->rows(), 2u) << "in the first line";
      }
}

TEST_F(IoTextLayout, NumbersUnderANameOfNamesAreSaid) {
  for (const char* name : {"sample_id", "patient", "cell"}) {
    const auto source = read(std::string(name) + ",a,b\n1003,1.5,2\n1001,3,4\n1010,7,1\n");
    EXPECT_EQ(source->dimension(), 3u);
    ASSERT_EQ(source->notes().size(), 2u) << name;
    EXPECT_NE(source->notes()[1].find("holds another whole number in every row"), std::string::npos);
    EXPECT_NE(source->notes()[1].find("`names = 1`"), std::string::npos);
  }
  EXPECT_EQ(read("cell,a\n3,1.5\n3,3\n5,1\n")->notes().size(), 1u) << "not distinct";
  EXPECT_EQ(read("cell,a\n3.5,1.5\n3,3\n5,1\n")->notes().size(), 1u) << "not whole";
  EXPECT_EQ(read("cell,a\n1,1.5\n2,3\n3,1\n")->notes().size(), 2u) << "counts the rows, which is said once";
  ReadOptions none;
  none.names = "none";
  EXPECT_EQ(read("cell,a\n3,1.5\n4,3\n9,1\n", none)->notes().size(), 1u);
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
