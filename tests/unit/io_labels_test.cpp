// Labels from files: words and numbers, headers, names, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include <flashdiffusion/error.hpp>

#include "io/labels.hpp"
#include "io_fixture.hpp"

namespace fd {
namespace {

class LabelsTest : public io_test::TemporaryFolder {
 protected:
  std::vector<Labels> read(const std::string& text, std::size_t rows, const std::vector<std::string>& names = {}) {
    return read_labels(put("labels.csv", text), {rows, names});
  }
  std::vector<Labels> in_order(const std::string& text, std::size_t rows, const std::vector<std::string>& names = {}) {
    return read_labels(put("labels.csv", text), {rows, names, true});
  }
};

using Words = std::vector<std::string>;

TEST_F(LabelsTest, WordsAndNumbersWithAHeaderOrWithout) {
  const auto labels = read("kind,score\na,1.5\nb,NaN\n\"c, d\",2.5\n", 3);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].name, "kind");
  EXPECT_EQ(labels[0].words, (Words{"a", "b", "c, d"}));
  EXPECT_EQ(labels[1].name, "score");
  EXPECT_EQ(labels[1].numbers[2], 2.5);
  EXPECT_TRUE(std::isnan(labels[1].numbers[1]));
  const auto bare = read("T cell\nB cell\nNA\n", 3);
  ASSERT_EQ(bare.size(), 1u);
  EXPECT_EQ(bare[0].name, "column 1");
  EXPECT_EQ(bare[0].words, (Words{"T cell", "B cell", ""}));
}

TEST_F(LabelsTest, FewWholeNumbersAreClusters) {
  EXPECT_EQ(read("0\n1\n0\n", 3)[0].words, (Words{"0", "1", "0"}));
  std::string many;
  for (int i = 0; i < 30; ++i) many += std::to_string(i) + "\n";
  EXPECT_EQ(read(many, 30)[0].numbers.size(), 30u);
}

TEST_F(LabelsTest, NamesPlaceTheLines) {
  const Words names = {"r1", "r2", "r3"};
  const auto labels = read("cell,kind\nr3,c\nr1,a\nr2,b\n", 3, names);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0].words, (Words{"a", "b", "c"}));
  EXPECT_THROW(read("cell,kind\nx,c\ny,a\nr2,b\n", 3, names), Error);                            // some of them: neither
  EXPECT_EQ(read("r4,d\nr3,c\nr1,a\nr5,e\nr2,b\n", 3, names)[0].words, (Words{"a", "b", "c"}));  // more lines than rows
  EXPECT_EQ(read("r3\nr1\nr2\n", 3, names)[0].words, (Words{"r3", "r1", "r2"}));
}

TEST_F(LabelsTest, RefusesOtherLengthsAndWidths) {
  for (const char* text : {"", "a\n", "a\nb\nc\nd\ne\n", "a,b\nc\nd,e\n"}) EXPECT_THROW(read(text, 3), Error) << text;
  EXPECT_THROW(read(std::string("a\nb\0c\nd\n", 8), 3), Error);
  EXPECT_THROW(read(std::string(2000, 'x') + "\nb\nc\n", 3), Error);
  EXPECT_THROW(read_labels(path("missing.csv"), {3, {}}), Error);
}

// What is said of labels that are refused; empty where they are not.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_F(LabelsTest, NamesThatDoNotAllFitAreRefusedByName) {
  const Words names = {"r1", "r2", "r3", "r4"};
  const std::string misspelt = refusal([&] { read("cell,kind\nr4,d\nr3,c\nR2,b\nr1,a\n", 4, names); });
  EXPECT_NE(misspelt.find("\"r2\" has no line"), std::string::npos) << misspelt;
  EXPECT_NE(misspelt.find("\"R2\""), std::string::npos) << misspelt;
  const std::string doubled = refusal([&] { read("r4,d\nr3,c\nr3,b\nr1,a\n", 4, names); });
  EXPECT_NE(doubled.find("\"r3\" has more than one line"), std::string::npos) << doubled;
  EXPECT_NE(refusal([&] { read_targets({put("t.csv", "r4,1.5\nr3,2.5\nr2,0\nr5,1\n")}, {4, names}); }), "");
}

TEST_F(LabelsTest, AHeaderIsKnownByItsContent) {
  std::string numbers, words;
  for (int i = 0; i < 9; ++i) numbers += std::to_string(i) + ".5\n", words += i % 2 ? "odd\n" : "even\n";
  // a header and one label too few
  for (const std::string& text : {"score\n" + numbers, "kind\n" + words, "parity\n" + words,
                                  std::string(",x\n1,a\n2,b\n3,b\n4,c\n5,b\n6,a\n7,b\n8,a\n9,a\n")}) {
    const std::string said = refusal([&] { read(text, 10); });
    EXPECT_NE(said.find("9 labels for 10 rows"), std::string::npos) << said;
    EXPECT_NE(said.find("10 lines"), std::string::npos) << said;
  }
  EXPECT_NE(refusal([&] {
              read_targets({put("t.csv", "score\n" + numbers)}, {10, {}});
            }).find("9 targets for 10 rows"),
            std::string::npos);
  // a word that occurs once, and headings that do not begin with a letter
  std::string rare = words;
  for (int i = 0; i < 10; ++i) rare += "even\n";
  for (const std::string& text : {"parity\n" + rare + "neither\n", "%mito\n" + numbers + numbers + "7.5\n1.5\n"})
    EXPECT_NE(refusal([&] { read(text, 21); }).find("20 labels for 21 rows"), std::string::npos) << text;
  // labels without a header and one too many
  for (const std::string& text : {numbers, words})
    EXPECT_NE(refusal([&] { read(text, 8); }).find("9 labels for 8 rows"), std::string::npos);
  EXPECT_NE(refusal([&] { read_targets({put("t.csv", numbers)}, {8, {}}); }), "");
  // the header is no label of a message
  EXPECT_NE(refusal([&] { read("score\n" + numbers, 20); }).find("9 labels for 20 rows"), std::string::npos);
  std::vector<std::string> notes;
  EXPECT_EQ(read_labels(put("labels.csv", "parity\n" + words), {9, {}}, &notes)[0].name, "parity");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("header: \"parity\""), std::string::npos) << notes[0];
}

TEST_F(LabelsTest, EmptyLinesOfOneColumnAreMissingLabels) {
  const auto labels = read("kind\na\n\nb\n\n\n", 3);
  EXPECT_EQ(labels[0].words, (Words{"a", "", "b"}));
  EXPECT_EQ(read("\na\nb\n", 3)[0].words, (Words{"", "a", "b"}));
  EXPECT_NE(refusal([&] { read("kind\na\n\nb\nc\n", 3); }).find("4 labels for 3 rows"), std::string::npos);
  EXPECT_TRUE(std::isnan(read_targets({put("t.csv", "x\n1\n\n3\n")}, {3, {}})[0].numbers[1]));
}

// What was recognised, in one text.
template <class Call>
std::string said(const Call& call) {
  std::vector<std::string> notes;
  call(&notes);
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

TEST_F(LabelsTest, BlankLinesOfSeveralColumnsAreRowsOrNothing) {
  EXPECT_EQ(read("a,1.5\n\nc,2.5\n\n", 2)[0].words, (Words{"a", "c"}));  // space between the lines
  EXPECT_EQ(read("a,b\n\nc,d\n", 3)[0].words, (Words{"a", "", "c"}));    // in place of a row
  EXPECT_EQ(read("\na,b\nc,d\n", 3)[1].words, (Words{"", "b", "d"}));
  const auto headed = read("kind,score\na,1.5\n\n\nb,2.5\n", 4);
  EXPECT_EQ(headed[0].words, (Words{"a", "", "", "b"}));
  EXPECT_TRUE(std::isnan(headed[1].numbers[2]));
  EXPECT_EQ(read("kind,score\n\na,1.5\nb,2.5\n", 2)[0].words, (Words{"a", "b"}));
  EXPECT_EQ(read("\nkind,score\na,1.5\n\nb,2.5\n", 3)[0].words, (Words{"a", "", "b"}));  // above a header there is no row
  // a row of words above others: with the blank line as a row it is a header, without it a label
  const std::string either = refusal([&] { read("one,two\na,b\n\nc,d\n", 3); });
  EXPECT_NE(either.find("line 3 is blank"), std::string::npos) << either;
  EXPECT_NE(refusal([&] { read("a,b\n\nc,d\n\n", 2); }).find("line 2 is blank"), std::string::npos);
  EXPECT_NE(refusal([&] { read("kind,score\na,1.5\n\nb,2.5\n", 4); }).find("2 labels for 4 rows, 1 blank line besides"),
            std::string::npos);
  EXPECT_NE(said([&](auto* notes) {
              read_labels(put("labels.csv", "\n\nkind,score\na,1.5\nb,2.5\n"), {2, {}}, notes);
            }).find("line 3 is taken for a header"),
            std::string::npos);
  const std::string file = put("labels.csv", "kind,score\na,1.5\n\nb,2.5\n");
  EXPECT_NE(said([&](auto* notes) {
              read_labels(file, {3, {}}, notes);
            }).find("line 3 is blank: taken for a row"),
            std::string::npos);
  EXPECT_NE(said([&](auto* notes) { read_labels(file, {2, {}}, notes); }).find("line 3 is blank: left out"), std::string::npos);
}

TEST_F(LabelsTest, NamesBehindAnIndexPlaceTheLines) {
  const Words names = {"r1", "r2", "r3", "r4"};
  const auto labels = read(",cell,kind\n0,r3,c\n1,r1,a\n2,r4,d\n3,r2,b\n", 4, names);
  ASSERT_EQ(labels.size(), 2u);  // the index is a column like others
  EXPECT_EQ(labels[0].words, (Words{"1", "3", "0", "2"}));
  EXPECT_EQ(labels[1].name, "kind");
  EXPECT_EQ(labels[1].words, (Words{"a", "b", "c", "d"}));
  const std::string misspelt = refusal([&] { read("0,r3,c\n1,r1,a\n2,r4,d\n3,R2,b\n", 4, names); });
  EXPECT_NE(misspelt.find("column 2 names rows of the model, but \"r2\" has no line"), std::string::npos) << misspelt;
  EXPECT_EQ(read("x,r1\ny,c\nz,c\nz,d\n", 4, names).size(), 2u);  // a label that is a name by chance
  // names that are numbers, behind another column: a rank has the same numbers
  const Words numbers = {"10", "11", "12"};
  EXPECT_NE(refusal([&] { read("a,12\nb,10\nc,11\n", 3, numbers); }).find("names or a rank"), std::string::npos);
  EXPECT_EQ(read("a,10\nb,11\nc,12\n", 3, numbers)[0].words, (Words{"a", "b", "c"}));
  EXPECT_EQ(read("12,10,c\n10,11,a\n11,12,b\n", 3, numbers)[1].words, (Words{"a", "b", "c"}));  // the first column goes before it
}

TEST_F(LabelsTest, NamesThatAreNumbersAreKnownByTheirValues) {
  const Words names = {"0", "1", "2", "3"};
  for (const char* text : {",k\n3,d\n2,c\n1,b\n0,a\n", ",k\n3.0,d\n2.0,c\n1.0,b\n0.0,a\n", "i,k\n03,d\n02,c\n01,b\n00,a\n",
                           ",k\n0.0,a\n1.0,b\n2.0,c\n3.0,d\n"})
    EXPECT_EQ(read(text, 4, names)[0].words, (Words{"a", "b", "c", "d"})) << text;
  EXPECT_EQ(read("0.25,a\n0.5,b\n0.75,c\n0.125,d\n", 4, names).size(), 2u);  // numbers of its own
  const std::string lacking = refusal([&] { read(",k\n0.0,d\n4.0,c\n2.0,b\n1.0,a\n", 4, names); });
  EXPECT_NE(lacking.find("\"3\" has no line; no row is called \"4.0\""), std::string::npos) << lacking;
}

TEST_F(LabelsTest, AnIndexInAnotherOrderIsRefused) {
  std::string numbers, doubled, missing, total, marked, named, spaced;  // of twelve rows, not in order
  for (int i = 0; i < 12; ++i) {
    const int row = (5 * i + 3) % 12;
    const std::string kind = i % 2 == 0 ? "a\n" : "b\n", number = std::to_string(row);
    numbers += number + "," + kind;
    doubled += std::to_string(row == 4 ? 7 : row) + "," + kind;
    missing += (row == 4 ? "NA" : number) + "," + kind;
    total += (row == 4 ? "all" : number) + "," + kind;
    marked += "#" + number + "," + kind;
    named += "row " + number + "," + kind;
    spaced += number + " " + kind;
  }
  for (const Words& names : {Words{}, Words{"r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "s1", "s2", "s3"}})
    for (const std::string& text : {numbers, doubled, missing, total, marked, named, "i,k\n" + numbers}) {
      const std::string refused = refusal([&] { read(text, 12, names); });
      EXPECT_NE(refused.find("in another order than they stand"), std::string::npos) << text << refused;
      EXPECT_EQ(in_order(text, 12, names).size(), 2u);
    }
  EXPECT_NE(refusal([&] { read(spaced, 12); }).find("names or numbers rows"), std::string::npos);
  for (const char* text : {",k\n3,d\n2,c\n1,b\n0,a\n", "2,c\n1,b\n4,d\n3,a\n", "i,k\n102.0,b\n101.0,a\n104.0,d\n103.0,c\n",
                           "k,i\na,3\nb,1\nc,0\nd,2\n"})
    EXPECT_NE(refusal([&] { read(text, 4); }), "") << text;
  for (const char* text : {",k\n0,a\n1,b\n2,c\n3,d\n", "1,a\n2,b\n3,c\n4,d\n", "5,a\n7,b\n8,c\n9,d\n", "0,3\n1,1\n2,0\n3,2\n"})
    EXPECT_EQ(read(text, 4).size(), 2u) << text;          // in order, and with a rank behind it
  EXPECT_EQ(read("2,0\n1,1\n1,0\n0,1\n", 4).size(), 2u);  // clusters
  EXPECT_EQ(read("1.5,0\n0.5,1\n2.5,0\n0,1\n", 4).size(), 2u);
}

TEST_F(LabelsTest, RowsThatDropRowsKeptAreKnownByTheirNumbers) {
  const Words kept = {"row 2", "row 3", "row 7", "row 9"};
  for (const char* text : {"7,c\n2,a\n3,b\n9,d\n", "6,c\n1,a\n2,b\n8,d\n", "p5,c\np2,a\np3,b\np9,d\n", "2,a\n3,b\n5,c\n9,d\n"})
    EXPECT_NE(refusal([&] { read(text, 4, kept); }), "") << text;
  for (const char* text : {"2,a\n3,b\n7,c\n9,d\n", "1,a\n2,b\n6,c\n8,d\n", "0,a\n1,b\n2,c\n3,d\n"})
    EXPECT_EQ(read(text, 4, kept)[1].words, (Words{"a", "b", "c", "d"})) << text;
  EXPECT_EQ(read("row 7,c\nrow 2,a\nrow 3,b\nrow 9,d\n", 4, kept)[0].words, (Words{"a", "b", "c", "d"}));
}

TEST_F(LabelsTest, NamesBeforeABlankAreNoLabels) {
  const Words names = {"r1", "r2", "r3", "r4"};
  const std::string refused = refusal([&] { read("r3 T cell\nr1 B cell\nr2 B cell\nr4 T cell\n", 4, names); });
  EXPECT_NE(refused.find("what stands before the first blank, \"r4\", names or numbers rows"), std::string::npos) << refused;
  EXPECT_EQ(read("4 T cell\n4 T cell\n8 T cell\n8 T cell\n", 4, names).size(), 1u);
}

// Two columns that name the rows, and not the same way.
TEST_F(LabelsTest, ColumnsOfNamesMustAgree) {
  const Words names = {"r1", "r2", "r3", "r4"};
  for (const char* text : {"r1,r3,a\nr2,r1,b\nr3,r2,c\nr4,r4,d\n", "r1,r3,a\nR2,r1,b\nr3,r2,c\nr4,r4,d\n"})
    EXPECT_NE(refusal([&] { read(text, 4, names); }).find("names rows of the model, but"), std::string::npos) << text;
  EXPECT_EQ(read("r2,r2,b\nr1,r1,a\nr3,r3,c\nr4,r4,d\n", 4, names)[1].words, (Words{"a", "b", "c", "d"}));
}

// A heading that is a row's name, above the lines of the others.
TEST_F(LabelsTest, AHeaderIsNoLineOfARow) {
  const std::string refused = refusal([&] { read("r1,score\nr2,0.5\nr3,1.5\nr4,2.5\n", 4, {"r1", "r2", "r3", "r4"}); });
  EXPECT_NE(refused.find("\"r1\" has no line"), std::string::npos) << refused;
}

TEST_F(LabelsTest, OtherNamesAreRefused) {
  const Words names = {"r1", "r2", "r3", "r4"};
  const std::string refused = refusal([&] { read("cell,kind\nx,c\ny,a\nz,b\nw,b\n", 4, names); });
  for (const char* words : {"\"x\", \"y\" and 2 more", "they are called \"r1\", \"r2\""})
    EXPECT_NE(refused.find(words), std::string::npos) << refused;
  EXPECT_NE(refusal([&] { read(",cell,kind\n0,x,c\n1,y,a\n2,z,b\n3,w,b\n", 4, names); }).find("column 2 holds names"),
            std::string::npos);                                                        // behind an index
  EXPECT_EQ(read("kind,score\nodd,1\neven,2\nodd,3\neven,4\n", 4, names).size(), 2u);  // kinds of rows
}

TEST_F(LabelsTest, ABlankLineAtTheEndIsNoRow) {
  EXPECT_EQ(read("kind\na\nb\n\n", 2)[0].words, (Words{"a", "b"}));
  EXPECT_EQ(read("parity\nodd\neven\n", 3)[0].words, (Words{"parity", "odd", "even"}));
  // nor does it make up for a first line that is taken for a header, or for a line that is missing
  for (const char* text : {"kind\na\nb\n\n", "rare\n1\n2\n\n", ",k\n0,a\n2,b\n\n", "kind,score\na,1.5\n\nb,2.5\n\n\n"})
    EXPECT_NE(refusal([&] { read(text, text[0] == 'k' && text[4] == ',' ? 4 : 3); }), "") << text;
  const std::string recurring = "rare\na\nb\na\nb\na\nb\na\nb\na\nb\na\n";
  EXPECT_NE(refusal([&] { read(recurring, 12); }), "");
  EXPECT_NE(refusal([&] { read(recurring + "\n", 12); }), "");
  const std::string either = refusal([&] { read("parity\nodd\neven\n\n", 3); });  // two labels and a row without, or three labels
  EXPECT_NE(either.find("1 blank line at the end"), std::string::npos) << either;
}

// A word above words that recur, and a number above numbers: the number of lines decides.
TEST_F(LabelsTest, ColumnsThatDisagreeOnTheFirstLineLeaveItToTheCount) {
  std::string text = "rare,0.5\n";
  for (int i = 0; i < 11; ++i) text += i % 2 == 0 ? "a,1.5\n" : "b,2.5\n";
  EXPECT_EQ(read(text, 12)[0].words[0], "rare");
  EXPECT_EQ(read(text, 11)[0].words[0], "a");
}

TEST_F(LabelsTest, NamesThatRowsShareKeepTheModelsOrderOrAreRefused) {
  const Words names = {"r1", "r2", "r2", "r3"};
  const std::string ordered = "cell,kind\nr1,a\nr2,b\nr2,c\nr3,d\n";
  EXPECT_EQ(read(ordered, 4, names)[0].words, (Words{"a", "b", "c", "d"}));
  EXPECT_NE(said([&](auto* notes) {
              read_labels(put("labels.csv", ordered), {4, names}, notes);
            }).find("several rows share a name"),
            std::string::npos);
  for (const char* text :
       {"cell,kind\nr3,d\nr2,b\nr2,c\nr1,a\n", "cell,kind\nr1,a\nr2,b\nr3,d\n", ",cell,kind\n0,r3,d\n1,r2,b\n2,r2,c\n3,r1,a\n"}) {
    const std::string refused = refusal([&] { read(text, 4, names); });
    EXPECT_NE(refused.find("several are called \"r2\""), std::string::npos) << text << refused;
  }
  const Words kinds = {"odd", "even", "odd", "even", "odd"};
  const std::string other = "even,a\neven,b\nodd,c\nodd,d\nodd,e\n";
  EXPECT_NE(refusal([&] { read(other, 5, kinds); }).find("several are called \"odd\", \"even\""), std::string::npos);
  EXPECT_EQ(in_order(other, 5, kinds)[1].words, (Words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(read("odd,a\neven,b\nodd,c\neven,d\nodd,e\n", 5, kinds)[0].words, (Words{"a", "b", "c", "d", "e"}));
}

TEST_F(LabelsTest, TargetsAreNumbersEvenWhereTheyAreFewWholeOnes) {
  const auto columns = read_targets({put("targets.csv", "a,b\n0,1.5\n1,NA\n0,2\n")}, {3, {}});
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].numbers, (std::vector<double>{0, 1, 0}));
  EXPECT_TRUE(std::isnan(columns[1].numbers[1]));
  const auto mixed = read_targets({put("targets.csv", "a,b\n0,1.5\n1,high\n0,2\n")}, {3, {}});
  EXPECT_NO_THROW(require_numbers(mixed[0], "targets.csv"));  // text in another column is nobody's business
  try {
    require_numbers(mixed[1], "targets.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input);
    for (const char* word : {"targets.csv, b", "high", "row 2"})
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace fd
