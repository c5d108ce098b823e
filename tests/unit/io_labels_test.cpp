// Labels from files: words and numbers, headers, blank lines, and what is refused. Which rows they reach: io_label_names_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/error.hpp>

#include "io/drop_missing.hpp"
#include "io/labels.hpp"
#include "io_fixture.hpp"

namespace fd {
namespace {

class LabelsTest : public io_test::TemporaryFolder {
 protected:
  std::vector<Labels> read(const std::string& text, std::size_t rows, const std::vector<std::string>& names = {}) {
    return read_labels(put("labels.csv", text), {rows, names});
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

// What samples and clusters are called: headings have no numbers.
TEST_F(LabelsTest, ANumberedNameIsNoHeading) {
  for (const char* name : {"Sample_00", "sample", "Cluster ", "batch", "Group ", "class "}) {
    std::string text, blank, two;
    for (int i = 1; i <= 9; ++i) {
      text += name + std::to_string(i) + "\n";
      two += name + std::to_string(i) + "," + std::to_string(i) + ".062\n";
      blank += name + std::to_string(i) + "\n" + (i == 5 ? "\n" : "");
    }
    EXPECT_EQ(read(text, 9)[0].words[0], name + std::string("1"));
    EXPECT_EQ(read(two, 9)[0].words[0], name + std::string("1"));
    EXPECT_NE(refusal([&] { read(blank, 9); }), "") << name;
  }
}

// Neither a sample that was measured twice nor one that is called otherwise ("QC") is a heading where its label is one of those below.
TEST_F(LabelsTest, AFirstRowThatDoesNotCountIsNoHeading) {
  for (const char* first : {"Sample_1", "QC"}) {
    std::string text = first + std::string(",ko\n"), blank;
    for (int i = 1; i <= 9; ++i) {
      text += "Sample_" + std::to_string(i) + (i % 2 == 0 ? ",wt\n" : ",ko\n");
      if (i == 4) blank = text + "\n";
      else if (i > 4) blank += "Sample_" + std::to_string(i) + (i % 2 == 0 ? ",wt\n" : ",ko\n");
    }
    std::vector<Labels> labels;
    if (refusal([&] { labels = read(text, 10); }).empty()) {
      EXPECT_EQ(labels[0].words[0], first);
    }
    EXPECT_NE(refusal([&] { read(blank, 10); }), "") << first;
  }
}

TEST_F(LabelsTest, WordsBesideNaNAreMissingThere) {
  const auto labels = read("kind\na\nNaN\nb\nnan\na\n", 5);
  EXPECT_EQ(labels[0].words, (Words{"a", "", "b", "", "a"}));
  EXPECT_NE(refusal([&] { read("NA\na\nb\nc\nd\n", 4); }), "");
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

// What pandas and R write above one column without a name, also where every word below is another one.
TEST_F(LabelsTest, AHeadingWithoutAMeaningAboveWords) {
  for (const std::string heading : {"0", "x"}) {
    std::string words = heading + "\n";
    for (char c = 'a'; c < 'm'; ++c) words += std::string("word ") + c + "\n";
    EXPECT_EQ(read(words, 12)[0].name, heading);
    EXPECT_NE(refusal([&] { read(words, 13); }).find("12 labels for 13 rows"), std::string::npos) << heading;
    EXPECT_EQ(read_labels(put("labels.csv", words), {13, {}, Placing::in_order})[0].words[0], heading);
  }
  EXPECT_EQ(read("0\nnone\n1\n", 3)[0].words[0], "0");
}

// What pandas writes above columns without names. With a row lost the heading must not become the label of a row.
TEST_F(LabelsTest, ANumberMayBeAHeading) {
  const auto below = [](const std::string& heading, std::size_t count, const char* index, const char* label) {
    std::string text = heading + "\n";
    for (std::size_t i = 0; i < count; ++i)
      text += (*index != 0 ? std::to_string(i) + index : std::string()) + label + std::to_string(i + 1) + "\n";
    return text;
  };
  struct Case {
    const char *heading, *index, *label, *name;
  };
  for (const auto& [heading, index, label, name] : {Case{"0", "", "0.25", "0"},
                                                    {"2019", "", "1.5", "2019"},
                                                    {"0.5", "", "0.3217", "0.5"},
                                                    {"0,1", "", "0.5,7", "1"},
                                                    {"0,1", "", "3,7", "1"},
                                                    {",0", ",", "0.5", "0"},
                                                    {",0", ",", "", "0"},
                                                    {",0,1", ",", "0.5,2.5", "1"}}) {
    SCOPED_TRACE(heading);
    EXPECT_EQ(read(below(heading, 12, index, label), 12).back().name, name);
    const std::string lost = below(heading, 11, index, label);
    EXPECT_NE(refusal([&] { read(lost, 12); }).find("11 labels for 12 rows"), std::string::npos);
    EXPECT_NE(refusal([&] { read_targets({put("t.csv", lost)}, {12, {}}); }), "");
    if (heading[0] == ',') continue;
    EXPECT_EQ(read_labels(put("labels.csv", lost), {12, {}, Placing::in_order})[0].numbers[0], std::stod(heading));
  }
  // numbers like those below, and rows that are counted
  for (const char* text : {"0\n1\n0\n1\n", "0.0\n1.2345\n0.3456\n2.3456\n", "1.5\n2\n3.25\n4.5\n", "0,1\n1,0\n2,1\n3,0\n"})
    EXPECT_EQ(read(text, 4)[0].numbers.size(), 4u) << text;
}

// With a blank line for a row the number above others is a heading, without it a label.
TEST_F(LabelsTest, ANumberAboveNumbersIsRefusedWhereABlankLineLeavesADoubt) {
  const auto doubt = [&](const std::string& text, std::size_t rows) {
    return refusal([&] { read(text, rows); }).find("header") != std::string::npos;
  };
  EXPECT_TRUE(doubt("0\n3\n1\n2\n0\n1\n\n", 6));
  EXPECT_TRUE(doubt("2020,2021\n7,1\n\n7,1\n1,7\n1,7\n", 5));
  EXPECT_TRUE(doubt("0.25,0.5\n1.5,2.5\n\n3.5,4.5\n1.5,0.5\n", 4));
  EXPECT_TRUE(doubt("person,2020\nann,3\n\nbob,3\nann,4\nbob,4\n", 5));
  // where one reading fits it is taken, and a heading of numbers no more than before
  EXPECT_EQ(read("0\n3\n\n2\n", 4)[0].numbers[1], 3);
  EXPECT_EQ(read("2020,2021\n7,1\n\n7,1\n1,7\n1,7\n", 6)[0].numbers[0], 2020);
  EXPECT_NE(refusal([&] { read("2020,2021\n7,1\n\n7,1\n1,7\n1,7\n", 4); }).find("5 labels for 4 rows"), std::string::npos);
  EXPECT_EQ(read("kind,n\nann,3\n\nbob,3\nann,4\nbob,4\n", 5)[1].numbers[0], 3);
}

// What is only likely of the first line is no proof where blank lines may be rows or nothing, each of them.
TEST_F(LabelsTest, BlankLinesBesideALikelyFirstLineAreRefused) {
  const auto table = [](const std::string& heading, const char* line, std::size_t lines, const std::string& blank) {
    std::string text = heading.empty() ? "" : heading + "\n";
    for (std::size_t i = 0; i < lines; ++i)
      text += fmt::format(fmt::runtime(line), i % 3, i % 2) + "\n" + (i == 3 || i == 6 ? blank : "");
    return text;
  };
  for (const auto& [heading, line] :
       {std::pair("0,1", "w{},p{}"), {"x,y", "w{},p{}"}, {"7,8", "0.{}25,1.5{}3"}, {"7,8", "{},{}"}}) {
    EXPECT_NE(refusal([&] { read(table(heading, line, 11, "\n"), 12); }).find("header"), std::string::npos) << heading;
    EXPECT_NE(refusal([&] { read(table(heading, line, 10, "\n") + "\n", 12); }), "") << heading;
    EXPECT_EQ(refusal([&] { read(table(heading, line, 12, ""), 12); }) == "", heading[0] != '7' || line[0] == '0') << heading;
  }
  EXPECT_EQ(read(table("0,1", "w{},p{}", 12, "\n"), 12)[0].words[0], "w0");  // nothing, as lines are enough
  // one row without labels, and one blank line that is nothing, at the end or not
  EXPECT_NE(refusal([&] { read(table("kind,n", "w{},{}", 10, "\n") + "\n", 13); }), "");
  EXPECT_NE(refusal([&] { read("kind,n\na,1\n\nb,2\n\n", 3); }).find("2 blank lines besides"), std::string::npos);
  // and in one column, where a blank line is a missing label
  EXPECT_NE(refusal([&] { read("d1\n\nd2\nd3\nd4\n\n", 4); }).find("blank line"), std::string::npos);
  EXPECT_NE(refusal([&] { read("0\n\nd2\n\nd4\n\n", 4); }).find("read either way"), std::string::npos);
}

// Whole numbers that no double holds: rounded, labels of different rows would be one.
TEST_F(LabelsTest, WholeNumbersBeyondDoublesAreWords) {
  const Words owners = {"76561198000000001", "76561198000000002", "-9007199254740993"};
  EXPECT_EQ(read("owner\n76561198000000001\n76561198000000002\n-9007199254740993\nNaN\n", 4)[0].words,
            (Words{owners[0], owners[1], owners[2], ""}));
  EXPECT_EQ(read("k;n\na;0076561198000000001\nb;7,5\n", 2)[1].words, (Words{"0076561198000000001", "7,5"}));
  EXPECT_EQ(read("owner\n76561198000000001.0\n1\n", 2)[0].words[0], "76561198000000001.0");
  // what a double holds, or was: powers of two, exponents, fractions
  EXPECT_EQ(read("x\n18014398509481984\n1e300\n-9007199254740993.5\n", 3)[0].numbers[0], 18014398509481984.0);
  // targets are to be rounded
  EXPECT_EQ(read_targets({put("t.csv", "x\n76561198000000001\n2\n")}, {2, {}})[0].numbers[0], 76561198000000001.0);
}

TEST_F(LabelsTest, WholeNumbersOfArraysBeyondDoublesAreWords) {
  const auto array = [](const char* type, const std::vector<std::uint64_t>& values) {
    std::string text = std::string("\x93NUMPY\x01\0\x76\0", 10) +
                       fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, values.size());
    text.resize(127, ' ');
    text += '\n';
    for (const std::uint64_t value : values)
      for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(value >> 8 * byte & 255);
    return text;
  };
  const auto words = [&](const char* type, const std::vector<std::uint64_t>& values) {
    return read_labels(put("l.npy", array(type, values)), {values.size(), {}})[0].words;
  };
  const auto below_zero = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min() + 1);
  EXPECT_EQ(words("<i8", {9007199254740993, 9007199254740992, 7, below_zero, 9223372036854775807}),
            (Words{"9007199254740993", "9007199254740992", "7", "-9223372036854775807", "9223372036854775807"}));
  EXPECT_EQ(words("<u8", {18446744073709551615u, 0, 18446744073709549568u}),
            (Words{"18446744073709551615", "0", "18446744073709549568"}));
  EXPECT_EQ(words("<i8", {9007199254740992, 7}), Words{});
  const std::string file = put("t.npy", array("<i8", {9007199254740993, 7}));
  EXPECT_EQ(read_targets({file}, {2, {}})[0].numbers[0], 9007199254740992.0);
}

TEST_F(LabelsTest, CommentsAboveTheTable) {
  const std::string lost = "# made by me\nlabel\n1.5\n2.5\n";
  EXPECT_EQ(read(lost, 2)[0].name, "label");
  EXPECT_NE(refusal([&] { read(lost, 3); }).find("2 labels for 3 rows"), std::string::npos);
  // a blank line below a comment is no label
  EXPECT_NE(refusal([&] { read("# made by me\n\nlabel\n1.5\n2.5\n", 3); }), "");
  EXPECT_EQ(read("# made by me\n# today\n\na,1.5\nb,2.5\n", 2)[1].numbers, (std::vector<double>{1.5, 2.5}));
  // where all have it, it belongs to them
  EXPECT_EQ(read("#3\n#1\n#2\n", 3)[0].words, (Words{"#3", "#1", "#2"}));
  EXPECT_EQ(read("#N/A\n1.5\n2.5\n", 3)[0].numbers.size(), 3u);
}

TEST_F(LabelsTest, BlanksDoNotSeparate) {
  std::string written, days, clusters;
  for (int i = 0; i < 12; ++i) {
    written += std::to_string(i + 1) + " 1.4" + std::to_string(i) + "\n";
    days += std::to_string(i) + " days\n";
    clusters += "blob " + std::to_string(i) + "\n";
  }
  for (const std::string& text : {"label\n" + written, written})
    EXPECT_NE(refusal([&] { read(text, 12); }).find("blanks between them"), std::string::npos);
  for (const std::string& text : {days, clusters}) EXPECT_EQ(read(text, 12)[0].words.size(), 12u);
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
  EXPECT_EQ(read("a,1.5\n\na,2.5\n\n", 2)[0].words, (Words{"a", "a"}));  // space between the lines
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

TEST_F(LabelsTest, DecimalCommasOfSemicolonFilesAreNumbers) {
  const auto labels = read("kind;score\na;1,5\nb;0,25\na;2\n", 3);
  EXPECT_EQ(labels[1].numbers, (std::vector<double>{1.5, 0.25, 2}));
  EXPECT_NE(refusal([&] {
              require_numbers(read_targets({put("t.csv", "x;y\n1,5;a\n1.5;b\n2,5;a\n")}, {3, {}})[0], "t.csv");
            }).find("\"1.5\" of row 2"),
            std::string::npos);
}

TEST_F(LabelsTest, QuotesAndLineEndsThatDoNotFitAreRefused) {
  for (const char* text : {"kind\na\n\"b\nc\"\nd\n", "x,kind\n1,\"a\nb\"\n", "a\rb\rc\r"})
    EXPECT_NE(refusal([&] { read(text, 4); }), "") << text;
  EXPECT_EQ(read("size,kind\n1.5,5\" pipe\n2.5,3\" pipe\n", 2)[1].words, (Words{"5\" pipe", "3\" pipe"}));
}

// What R's write.table writes has no heading above the names.
TEST_F(LabelsTest, AShorterFirstLineIsAHeaderAboveNames) {
  const Words names = {"r1", "r2", "r3"};
  for (const char* text : {"x,y\nr2,b,1.5\nr1,a,2.5\nr3,c,0\n", "x\ty\nr2\tb\t1.5\nr1\ta\t2.5\nr3\tc\t0\n",
                           "x\nr2,b\nr1,a\nr3,c\n", "\"x\";\"y\"\n\"r2\";\"b\";1,5\n\"r1\";\"a\";2,5\n\"r3\";\"c\";0\n"}) {
    const auto labels = read(text, 3, names);
    EXPECT_EQ(labels[0].name, "x") << text;
    EXPECT_EQ(labels[0].words, (Words{"a", "b", "c"})) << text;
  }
  EXPECT_EQ(read("kind\nT, old\nB, old\nT, young\n", 3)[0].words, (Words{"T, old", "B, old", "T, young"}));  // no names
  EXPECT_NE(refusal([&] { read("a,b\n1,2,\n3,4,\n", 2); }), "");  // a separator too many
  EXPECT_NE(refusal([&] { read("\"x\"\n\"r2\" \"b\"\n\"r1\" \"a\"\n\"r3\" \"c\"\n", 3); }).find("blanks between"),
            std::string::npos);
}

// One column of decimal commas is not two under one heading.
TEST_F(LabelsTest, DecimalCommasBelowOneHeadingAreRefused) {
  for (const char* text : {"time\n0,5\n1,5\n2,5\n3,5\n", "time\n0,5\n0,5\n2\nNA\n", "time\n\"0,5\"\n\"1,5\"\n-2,5\n3\n"})
    EXPECT_NE(refusal([&] { read(text, 4); }).find("decimal comma"), std::string::npos) << text;
  EXPECT_EQ(read("kind\n\"1\",5\n\"2\",7\n", 2, {"1", "2"})[0].numbers, (std::vector<double>{5, 7}));
  // below several, a heading fewer than cells is what R writes above names: different ones, and beside them no halves of a number
  for (const char* text : {"x,kind\n1,25,a\n2,5,b\n1,5,a\n0,5,b\n", "x,kind\n0,5,a\n1,5,b\n2,5,a\n3,5,b\n",
                           ",x\nr1,1,25\nr2,2,5\nr3,1,5\nr4,0,5\n", "name,x\nr1,1,25\nr2,2,5\nr3,1,5\nr4,0,5\n"})
    for (const Words& names : {Words{}, Words{"r1", "r2", "r3", "r4"}})
      EXPECT_NE(refusal([&] { read(text, 4, names); }).find("3 cells, but the first line has 2"), std::string::npos) << text;
  EXPECT_EQ(read("x,y\n\"r2\",2,5\n\"r1\",1,25\n", 2, {"r1", "r2"})[1].numbers, (std::vector<double>{25, 5}));
  std::vector<std::string> notes;
  read_labels(put("labels.csv", "0,5\n1,5\n3,5\n"), {3, {}}, &notes);
  EXPECT_NE(fmt::format("{}", fmt::join(notes, "; ")).find("decimal commas of one column"), std::string::npos);
}

// The whole table may be headed by the only label that is a word.
TEST_F(LabelsTest, AWordAboveNumbersIsRefusedWhereItMayBeALabelOfTheWholeTable) {
  std::string numbers, pairs;
  for (int i = 0; i < 39; ++i)
    numbers += std::to_string(i % 4) + "\n", pairs += std::to_string(i % 4) + "," + std::to_string(i % 3) + "\n";
  const auto of = [&](const std::string& text, std::size_t rows, std::size_t left_out, Placing placing = Placing::if_certain) {
    return refusal([&] { read_labels(put("labels.csv", text), {rows, {}, placing, left_out}); });
  };
  const std::string said = of("noise\n" + numbers, 39, 1);
  EXPECT_NE(said.find("(\"noise\") may be a header, or the first label of the whole table"), std::string::npos) << said;
  EXPECT_EQ(of("noise\n" + numbers, 39, 2), "");  // the whole table has a line more
  EXPECT_EQ(of("noise\n" + numbers, 39, 0), "");
  EXPECT_EQ(of("noise\n" + numbers, 39, 1, Placing::in_order), "");
  EXPECT_EQ(of("Cluster\n" + numbers, 39, 1), "");
  EXPECT_EQ(of("phi,psi\n" + pairs, 39, 1), "");
}

TEST_F(LabelsTest, ModelsSayHowManyRowsWereLeftOut) {
  EXPECT_EQ(rows_left_out("{\"notes\": [\"12 of 40 rows have missing values and are left out (1, 2)\"]}"), 12u);
  EXPECT_EQ(rows_left_out("{\"notes\": [\"1 of 40 rows has missing values and is left out (7; the others)\"]}"), 1u);
  EXPECT_EQ(rows_left_out("{}"), 0u);
}

// Rows left out before the fit: the first line of the whole table may look like a header of the rest.
TEST_F(LabelsTest, AGuessedHeaderIsRefusedWhereRowsWereLeftOut) {
  const std::string whole = "rare\na\nb\na\nb\na\nb\na\nb\n", two = "rare,x\na,y\nb,z\n";
  for (const auto& [text, rows] : {std::pair(whole, 8u), {two, 2u}, {std::string("d1\nd2\nd3\n"), 2u}}) {
    const std::string file = put("labels.csv", text);
    EXPECT_EQ(read_labels(file, {rows, {}}).size(), text == two ? 2u : 1u);
    const Words kept = rows == 8 ? Words{} : Words{"row 1", "row 3"};
    EXPECT_NE(refusal([&] {
                read_labels(file, {rows, kept, Placing::if_certain, 1});
              }).find("may be a header, or the first"),
              std::string::npos);
    EXPECT_NO_THROW(read_labels(file, {rows, kept, Placing::in_order, 1}));
  }
  EXPECT_EQ(read_labels(put("labels.csv", "cluster\na\nb\n"), {2, {}, Placing::if_certain, 1})[0].name, "cluster");
  EXPECT_NE(refusal([&] { read("\nx\na\nb\n", 3); }), "");  // a blank line is no header
}

TEST_F(LabelsTest, SeveralFilesAreOneTable) {
  const Words names = {"r1", "r2", "r3", "r4"};
  const auto stacked = [&](const std::string& first, const std::string& second) {
    return read_targets({put("1.csv", first), put("2.csv", second)}, {4, names});
  };
  const auto placed = stacked("cell,t\nr3,3\nr1,1\n", "cell,t\nr4,4\nr2,2\n");
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].name, "t");
  EXPECT_EQ(placed[0].numbers, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(stacked("r3,3\nr1,1\n", "r4,4\nr2,2\n")[0].numbers, (std::vector<double>{1, 2, 3, 4}));
  // blank lines at the end and above a header are nothing
  EXPECT_EQ(stacked("cell,t\nr3,3\nr1,1\n\n", "\ncell,t\nr4,4\nr2,2\n")[0].numbers, (std::vector<double>{1, 2, 3, 4}));
  std::vector<std::size_t> file;
  read_targets({put("1.csv", "cell,t\nr3,3\nr1,1\n"), put("2.csv", "cell,t\nr4,4\nr2,2\n")}, {4, names}, nullptr, &file);
  EXPECT_EQ(file, (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_NE(refusal([&] { stacked("cell,t\nr3,3\nr1,1\n", "cell,t\nr4,4\nr1,2\n"); }).find("more than one line"),
            std::string::npos);
  EXPECT_NE(refusal([&] { stacked("cell,t\nr3,3\nr1,1\n", "cell,u\nr4,4\nr2,2\n"); }).find("another header"), std::string::npos);
  EXPECT_NE(refusal([&] { stacked("cell,t\nr3,3\nr1,1\n", "r4,4\nr2,2\n"); }).find("2.csv: whether line 1 is a header"),
            std::string::npos);
  EXPECT_NE(refusal([&] { stacked("t\n1\n2\n", "t,u\n1,2\n3,4\n"); }).find("other columns"), std::string::npos);
  EXPECT_NE(refusal([&] { stacked("1.5\n2.5\n", ""); }).find("no lines"), std::string::npos);
  EXPECT_NE(refusal([&] {
              read_targets({put("1.csv", "1\n2\n"), put("2.npy", "")}, {4, names});
            }).find("text and arrays"),
            std::string::npos);
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
