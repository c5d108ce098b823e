// Which rows the lines of a label file reach: every rule from both sides, taken and refused.
#include <gtest/gtest.h>

#include <flashdiffusion/error.hpp>

#include "io/labels.hpp"
#include "io_fixture.hpp"

namespace fd {
namespace {

using Words = std::vector<std::string>;

class LabelNamesTest : public io_test::TemporaryFolder {
 protected:
  // Words of the last column, all in one; or, where the file is refused, what is said.
  std::string read(const std::string& text, const Words& names, std::size_t rows = 0, Placing placing = Placing::if_certain) {
    try {
      const auto labels = read_labels(put("labels.csv", text), {rows > 0 ? rows : names.size(), names, placing}, &notes);
      std::string all;
      for (const std::string& word : labels.back().words) all += word;
      for (const double number : labels.back().numbers) all += std::to_string(static_cast<int>(number));
      return all;
    } catch (const Error& error) {
      return std::string("refused: ") + error.what() + "; " + error.hint();
    }
  }
  std::string bare(const std::string& text, std::size_t rows) { return read(text, {}, rows); }
  std::string in_order(const std::string& text, const Words& names) { return read(text, names, names.size(), Placing::in_order); }
  std::string by_name(const std::string& text, const Words& names) { return read(text, names, names.size(), Placing::by_name); }
  std::vector<std::string> notes;
};

bool refused_because(const std::string& said, const std::string& why) {
  return said.starts_with("refused: ") && said.find(why) != std::string::npos;
}
#define EXPECT_REFUSED(call, why) EXPECT_PRED2(refused_because, call, std::string(why))

const Words words = {"r1", "r2", "r3", "r4"};

TEST_F(LabelNamesTest, WordsThatCoverTheRowsPlaceTheLines) {
  EXPECT_EQ(read("cell,kind\nr3,c\nr1,a\nr4,d\nr2,b\n", words), "abcd");
  EXPECT_EQ(read("r5,e\nr3,c\nr1,a\nr4,d\nr6,f\nr2,b\n", words), "abcd");  // more lines than rows
  EXPECT_NE(notes.back().find("2 lines are left out, of names that no row of the model has: \"r5\", \"r6\""), std::string::npos);
  EXPECT_EQ(read(",cell,kind\n0,r3,c\n1,r1,a\n2,r4,d\n3,r2,b\n", words), "abcd");  // behind an index
  EXPECT_EQ(read("r2,r2,b\nr1,r1,a\nr3,r3,c\nr4,r4,d\n", words), "abcd");
  EXPECT_EQ(read("r1,rare\nr2,a\nr3,b\nr4,a\n", words), "rareaba");               // the first line is a row, or a name is missing
  EXPECT_EQ(read("r1,a\nr1,b\nr2,c\nr3,d\nr4,e\n", words).substr(0, 8), "bcde");  // a heading that is called like a row
}

TEST_F(LabelNamesTest, WordsThatDoNotAreRefused) {
  EXPECT_REFUSED(read("cell,kind\nr4,d\nr3,c\nR2,b\nr1,a\n", words), "\"r2\" has no line; no row is called");
  EXPECT_REFUSED(read("r4,d\nr3,c\nr3,b\nr1,a\n", words), "\"r3\" has more than one line");
  EXPECT_REFUSED(read("cell,kind\nx,c\ny,a\nz,b\nw,b\n", words), "called \"r1\", \"r2\" and 2 more");
  EXPECT_REFUSED(read("kind,score\na,1\nb,2\na,3\nb,4\n", words), "no column holds the names");
  EXPECT_REFUSED(read(",kind\n0,a\n1,b\n2,c\n3,d\n", words), "--in-order");
  for (const char* text : {"r1,r3,a\nr2,r1,b\nr3,r2,c\nr4,r4,d\n", "r1,r3,a\nR2,r1,b\nr3,r2,c\nr4,r4,d\n"})
    EXPECT_REFUSED(read(text, words), "name the rows of the model differently");
  EXPECT_REFUSED(read("r1,score\nr2,0.5\nr3,1.5\nr4,2.5\n", words), "looks like a header");
  EXPECT_EQ(in_order("kind,score\na,1\nb,2\na,3\nb,4\n", words), "1234");
}

TEST_F(LabelNamesTest, NumbersAreKnownByTheirValues) {
  const Words far = {"1000", "52.5", "70000", "3"};
  for (const char* text :
       {"i,k\n70000.0,c\n1e3,a\n3,d\n052.50,b\n", "i,k\n1000,a\n52.5,b\n70000,c\n3,d\n", "i;k\n70000;c\n1000,0;a\n3;d\n52,5;b\n"})
    EXPECT_TRUE(read(text, far) == "abcd") << text << read(text, far);
  EXPECT_EQ(read("k,i,l\na,70000,c\nb,1000,a\nc,3,d\nd,52.5,b\n", far), "abcd");  // in any column
  const Words close = {"3", "1", "2", "0"};
  EXPECT_EQ(read("i,k\n3,a\n1,b\n2,c\n0,d\n", close), "abcd");  // row by row
  EXPECT_REFUSED(read("i,k\n0,d\n1,b\n2,c\n3,a\n", close), "names, an index or a rank?");
  EXPECT_REFUSED(read("i,k\n0,d\n1,b\n2,c\n3,a\n", close), "--by-name");
  EXPECT_EQ(by_name("i,k\n0,d\n1,b\n2,c\n3,a\n", close), "abcd");
  const Words hundred = {"100", "101", "102"};
  EXPECT_EQ(read("100,a\n101,b\n102,c\n", hundred), "abc");
  EXPECT_REFUSED(read("102,c\n100,a\n101,b\n", hundred), "an index or a rank?");
  EXPECT_REFUSED(read("i,k\n1000,a\n52.5,b\n7.0E+4,c\n4,d\n", far), "\"3\" has no line; no row is called \"4\"");
  EXPECT_REFUSED(read("k,i\na,ID1000\nb,ID52\nc,ID7\nd,ID3\n", far), "no column holds the names");
  const Words long_ones = {"700000000000000001", "700000000000000002"};  // fp64 does not tell them apart
  EXPECT_EQ(read("700000000000000002,b\n700000000000000001,a\n", long_ones), "ab");
  EXPECT_REFUSED(read("7.0E+17,b\n7.0E+17,a\n", long_ones), "no column holds the names");
}

TEST_F(LabelNamesTest, AWholeTableIsTakenWhereItsBaseIsProven) {
  const std::string from_0 = "i,k\n0,a\n1,b\n2,c\n3,d\n4,e\n", from_1 = "i,k\n1,a\n2,b\n3,c\n4,d\n5,e\n";
  EXPECT_EQ(read(from_0, {"0", "2", "4"}), "ace");
  EXPECT_EQ(read(from_1, {"2", "3", "5"}), "bce");
  EXPECT_REFUSED(read(from_0, {"1", "2", "4"}), "an index or a rank?");
  EXPECT_REFUSED(read(from_1, {"1", "2", "4"}), "an index or a rank?");
  EXPECT_REFUSED(read("i,k\n0,a\n2,b\n1,c\n3,d\n4,e\n", {"0", "2", "4"}), "an index or a rank?");
  EXPECT_REFUSED(read("0,1\n1,a\n2,b\n3,c\n4,d\n", {"0", "2", "4"}), "an index or a rank?");  // headings 0 and 1, or a row
  EXPECT_EQ(by_name(from_0, {"1", "2", "4"}), "bce");
}

TEST_F(LabelNamesTest, NamesThatOnlyCountAreNone) {
  for (const Words& names : {Words{"0", "1", "2", "3"}, Words{"1", "2", "3", "4"}}) {
    for (const char* text : {",k\n0,a\n1,b\n2,c\n3,d\n", ",k\n1,a\n2,b\n3,c\n4,d\n", "k,s\na,a\nb,b\nc,c\nd,d\n"})
      EXPECT_EQ(read(text, names), "abcd") << text;
    EXPECT_REFUSED(read(",k\n3,d\n2,c\n1,b\n4,a\n", names), "--in-order");
    EXPECT_REFUSED(read(",k\n0,a\n1,b\n3,c\n4,d\n", names), "nor the model's rows");
  }
  EXPECT_EQ(by_name(",k\n3,d\n2,c\n1,b\n0,a\n", {"0", "1", "2", "3"}), "abcd");
  EXPECT_REFUSED(read(",k\n3,d\n2,c\n1,b\n0,a\n", {"0", "1", "2", "3"}), "--by-name");
}

TEST_F(LabelNamesTest, NamesThatRowsShare) {
  const Words kinds = {"T", "B", "T", "B", "B", "T", "T", "B", "T", "T", "T", "B"};
  std::string same, sorted, predicted = "p,k\n";
  for (std::size_t i = 0; i < kinds.size(); ++i) same += kinds[i] + "," + std::string(1, static_cast<char>('a' + i)) + "\n";
  for (std::size_t i = 0; i < kinds.size(); ++i) sorted += std::string(i < 5 ? "B," : "T,") + static_cast<char>('a' + i) + "\n";
  for (std::size_t i = 0; i < kinds.size(); ++i)
    predicted += std::string(i < 9 ? "B," : "T,") + static_cast<char>('a' + i) + "\n";
  EXPECT_EQ(read("cell,kind\n" + same, kinds), "abcdefghijkl");
  EXPECT_EQ(read(predicted, kinds), "abcdefghijkl");
  EXPECT_REFUSED(read(sorted, kinds), "in another order");
  EXPECT_EQ(in_order(sorted, kinds), "abcdefghijkl");
  EXPECT_REFUSED(by_name(same, kinds), "share a name");
  // nearly all have their own
  const Words doubled = {"ab", "cd", "cd", "ef"};
  EXPECT_EQ(read("cell,kind\nab,a\ncd,b\ncd,c\nef,d\n", doubled), "abcd");
  for (const char* text : {"cell,kind\nef,d\ncd,b\ncd,c\nab,a\n", "k,s\na,a\nb,b\na,c\nb,d\n", "ab,a\ncd,b\ncd,c\nEF2,d\n"})
    EXPECT_REFUSED(read(text, doubled), "share a name");
}

TEST_F(LabelNamesTest, AColumnThatCountsMustAscend) {
  for (const char* text :
       {",k\n0,a\n1,b\n2,c\n3,d\n", "5,a\n7,b\n8,c\n9,d\n", "img_1.png,a\nimg_2.png,b\nimg_3.png,c\nimg_4.png,d\n",
        "0.00,a\n0.02,b\n0.04,c\n0.06,d\n", "AAC-1,a\nGGT-1,b\nTTA-1,c\nCCG-1,d\n", "1.7,a\n0.5,b\n2.5,c\n0,d\n"})
    EXPECT_EQ(bare(text, 4), "abcd") << text;
  for (const char* text :
       {",k\n0,a\n2,b\n1,c\n3,d\n", "2,c\n1,b\n4,d\n3,a\n", "img_2.png,a\nimg_1.png,b\nimg_4.png,c\nimg_3.png,d\n",
        "cell 7,a\ncell 6,b\ncell 9,c\ncell 8,d\n", "0.02,a\n0.00,b\n0.06,c\n0.04,d\n", "k,i\na,3\nb,1\nc,0\nd,2\n",
        ",index,k\n0,2,a\n1,0,b\n2,1,c\n3,3,d\n",
        "\"\",\"k\",\"id\"\n\"1\",\"a\",2\n\"2\",\"b\",1\n\"3\",\"c\",4\n\"4\",\"d\",3\n", "i,k\n0,a\n1,b\n1,c\n3,d\n",
        "i,k\n30,a\n10,b\n400,c\n20,d\n"})
    EXPECT_REFUSED(bare(text, 4), "count") << text;
  // of twelve lines one may be lost to another
  for (const char* odd : {"7", "NA", "all", "999999"}) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += (i == 4 ? std::string(odd) : std::to_string((5 * i + 3) % 12)) + ",k\n";
    EXPECT_REFUSED(bare(text, 12), "in another order than they stand") << text;
  }
  EXPECT_EQ(bare("17.5,4\n2.25,1\n9,1\n4,1\n", 4), "4111");
}

TEST_F(LabelNamesTest, RowsThatDropRowsKeptAreKnownByTheirNumbers) {
  const Words kept = {"row 2", "row 3", "row 7", "row 9"};
  for (const char* text : {"2,a\n3,b\n7,c\n9,d\n", "1,a\n2,b\n6,c\n8,d\n", "0,a\n1,b\n2,c\n3,d\n",
                           "row 7,c\nrow 2,a\nrow 3,b\nrow 9,d\n", "k,s\na,a\nb,b\na,c\nb,d\n"})
    EXPECT_EQ(read(text, kept), "abcd") << text;
  for (const char* text : {"7,c\n2,a\n3,b\n9,d\n", "6,c\n1,a\n2,b\n8,d\n", "p5,c\np2,a\np3,b\np9,d\n", "2,a\n3,b\n5,c\n9,d\n",
                           "5,a\n6,b\n7,c\n8,d\n"})
    EXPECT_REFUSED(read(text, kept), "count") << text;
  // names, and not those of these rows
  for (const char* text : {"row,k\nrow 1,a\nrow 2,b\nrow 3,c\nrow 4,d\n", "k,row\na,row 10\nb,row 11\nc,row 12\nd,row 13\n"}) {
    EXPECT_REFUSED(read(text, kept), "--in-order");
    EXPECT_FALSE(in_order(text, kept).starts_with("refused"));
  }
}

// Of the whole table the first line may be of a row that was dropped.
TEST_F(LabelNamesTest, ALineThatIsCalledLikeTheRowsIsNoHeader) {
  const Words kept = {"row 2", "row 3", "row 4", "row 5"};
  for (const char* text : {"row 1,a,a,e\nrow 2,a,b,a\nrow 3,a,b,b\nrow 4,a,a,c\nrow 5,a,b,d\n",
                           "row 1,x\nrow 2,a\nrow 3,b\nrow 4,c\nrow 5,d\n", "row 1,x\nrow 3,b\nrow 2,a\nrow 5,d\nrow 4,c\n"}) {
    const auto labels = read_labels(put("labels.csv", text), {4, kept, Placing::if_certain, 1});
    EXPECT_EQ(labels.back().words, (Words{"a", "b", "c", "d"})) << text;
    EXPECT_TRUE(labels.back().name.starts_with("column ")) << labels.back().name;
  }
  EXPECT_EQ(bare("img_0.png,rare\nimg_1.png,a\nimg_2.png,b\nimg_3.png,a\n", 4), "rareaba");
  EXPECT_REFUSED(bare("img_0.png,rare\nimg_1.png,a\nimg_2.png,b\nimg_3.png,a\n", 3), "counts 4 lines");
}

// Lines that are counted, or named like rows that share names, below one that is not: a header, whatever stands beside it.
TEST_F(LabelNamesTest, AFirstLineAboveACountIsAHeader) {
  const auto lines = [](const std::string& heading, const std::string& before, int base, int lost, const std::string& after) {
    std::string text = heading + "\n";
    for (int i = 0; i < 12; ++i)
      if (i != lost) text += before + std::to_string(i + base) + after + std::to_string(i * i % 5) + "\n";
    return text;
  };
  for (const char* heading : {"id,2019", "name,7", "index,3"})
    for (const char* before : {"", "row ", "img_"})
      for (const int base : {0, 1}) {
        EXPECT_EQ(bare(lines(heading, before, base, -1, ","), 12), "014410144101") << heading << before;
        for (const int lost : {0, 5, 11})
          EXPECT_REFUSED(bare(lines(heading, before, base, lost, ","), 12), "11 labels for 12 rows");
      }
  EXPECT_REFUSED(bare(lines("2019,2020", "img_", 0, 11, ".png,"), 12), "11 labels for 12 rows");
  for (const char* text : {"NA,2019\n1,4\n2,5\n3,6\n4,7\n", "NA,e\n1,a\n2,b\n3,c\n4,d\n"}) EXPECT_REFUSED(bare(text, 5), "count");
  Words kinds;
  std::string shared = "kind of row,2019\n", all;
  for (int i = 0; i < 12; ++i) {
    kinds.push_back(i % 3 == 0 ? "B" : "T");
    if (i < 11) shared += std::string(i % 2 == 0 ? "B," : "T,") + std::to_string(i * i % 5) + "\n";
  }
  EXPECT_REFUSED(read(shared, kinds), "11 labels for 12 rows");
}

TEST_F(LabelNamesTest, BlankLinesStandWhereTheCountSaysSo) {
  EXPECT_EQ(bare("i,k\n0,a\n\n2,c\n3,d\n", 4), "acd");
  EXPECT_REFUSED(bare("i,k\n0,a\n1,b\n\n2,c\n", 4), "count");
}

TEST_F(LabelNamesTest, OneColumnHidesNoSecond) {
  EXPECT_EQ(read("kind\na\nb\nc\nd\n", words), "abcd");
  EXPECT_EQ(read("T cell\nB cell\nT cell\nB cell\n", words), "T cellB cellT cellB cell");
  for (const char* separator : {" ", "|", ": ", ":"}) {
    std::string names = "cell" + std::string(separator) + "kind\n", numbers = names;
    for (const char* name : {"r3", "r1", "r4", "r2"}) names += name + std::string(separator) + "T\n";
    for (const char* number : {"3", "1", "4", "2"}) numbers += number + std::string(separator) + "T\n";
    EXPECT_REFUSED(read(names, words), "begin with names");
    EXPECT_REFUSED(bare(numbers, 4), "begin with numbers");
    EXPECT_NE(in_order(names, words), "");
  }
  EXPECT_REFUSED(read("r3\nr1\nr2\nr4\n", words), "in another order");
  EXPECT_EQ(read("r1\nr2\nr3\nr4\n", words), "r1r2r3r4");
  EXPECT_EQ(bare("3\n1\n2\n0\n", 4), "3120");  // a rank
}

TEST_F(LabelNamesTest, ByNameTakesTheFirstColumnThatCoversTheRows) {
  EXPECT_EQ(by_name("r1,r3,a\nr2,r1,b\nr3,r2,c\nr4,r4,d\n", words), "abcd");
  EXPECT_REFUSED(by_name("k,s\na,a\nb,b\na,c\nb,d\n", words), "no column holds the names");
  EXPECT_REFUSED(by_name("kind\na\nb\nc\nd\n", words), "one column");
  EXPECT_REFUSED(read("0,a\n1,b\n", {}, 2, Placing::by_name), "no names to place lines by");
}

}  // namespace
}  // namespace fd
