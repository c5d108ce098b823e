// Text tables: what is recognised and how errors are placed.
#include <fcntl.h>
#include <zlib.h>

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
  same("# made by hand\n1,2.5\n  # second, of two\n-3,4e2\n");
  same("1 2.5 # first, of two\n-3 4e2 # second; last\n", "x.txt");
  same("x y # names, of columns\n1 2.5\n-3 4e2\n", "x.txt");
  same("1\t2.5\t# first\n-3\t4e2\n", "x.tsv");
  same("\"1\",\"2.5\"\n\"-3\",\" 4e2 \"\n");
  same("+1,+2.5\n-3,+4e+2\n");
}

TEST_F(IoText, Values) {
  const auto source = open_points({put("x.csv", "7,inf\n-inf,Infinity\n1e400,1e-400\n5e-324,0.1\n")});
  const auto values = all_of(*source);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(values[0], 7);
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
  EXPECT_TRUE(says(refusal("x,y\n1,\n"), "1 of 1 row: row 1, column 2 (\"y\") (line 2: the cell is empty)"));
  EXPECT_TRUE(says(refusal("1,2\n,4\n"), "row 2, column 1 (line 2: the cell is empty)"));
  EXPECT_TRUE(says(refusal("1,,2\n"), "row 1, column 2 (line 1: the cell is empty)"));
  EXPECT_TRUE(says(refusal("1\t2\n3\t\n", "x.tsv"), "row 2, column 2 (line 2: the cell is empty)"));
  EXPECT_TRUE(says(refusal("1,2\nNA,4\n"), "row 2, column 1 (line 2: 'NA')"));
}

TEST_F(IoText, WhatIsNotATable) {
  EXPECT_TRUE(says(refusal(""), "is empty"));
  EXPECT_TRUE(says(refusal("\n# only a comment\n"), "holds no numbers"));
  EXPECT_TRUE(says(refusal("x,y\n"), "header row and no numbers"));
  EXPECT_TRUE(says(refusal(std::string("1,2\n3,\0\n", 8)), "line 2: not text"));
  EXPECT_TRUE(says(refusal("\x1f\x8b\x08\x01garbage"), "gzip"));
  EXPECT_TRUE(says(refusal("\x93NUMPY", "x.txt"), "binary"));
  EXPECT_TRUE(says(refusal("\xff\xfex"), "UTF-16"));
}

TEST_F(IoText, MissingValues) {
  const std::string content = "x,y\n1,2\nNA,4\n5,\n7,8\nnan,NULL\n";
  const Error error = refusal(content);
  EXPECT_TRUE(says(error,
                   "missing values in 3 of 5 rows: row 2, column 1 (\"x\") (line 3: 'NA'); row 3, column 2 (\"y\") (line 4: the "
                   "cell is empty); row 5, column 1 (\"x\") (line 6: 'nan'); ..."));
  EXPECT_TRUE(says(error, "`missing = drop-rows`"));
  ReadOptions drop;
  drop.missing = Missing::drop_rows;
  const auto source = open_points({put("x.csv", content)}, drop);
  EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2, 7, 8}));
  EXPECT_EQ(source->row_names(), (std::vector<std::string>{"row 1", "row 4"}));
  ASSERT_EQ(source->notes().size(), 2u);
  EXPECT_NE(source->notes()[1].find("3 of 5 rows have missing values and are left out (rows 2, 3, 5)"), std::string::npos);
  std::vector<double> one(2);
  source->read(1, 1, one.data());
  EXPECT_EQ(one, (std::vector<double>{7, 8}));
  const auto named = open_points({put("x.csv", "n,x\na,1\nb,\nc,3\n")}, drop);
  EXPECT_EQ(named->row_names(), (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(says(error_of([&] { open_points({put("x.csv", "1,\n2,NA\n")}, drop); }), "all 2 rows have missing values"));
  const auto whole = open_points({put("x.csv", "1,2\n3,5\n")}, drop);
  EXPECT_EQ(whole->rows(), 2u);
  EXPECT_TRUE(whole->row_names().empty());
  // binary files too; a fit could not use infinity either
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  put("x.npy", npy_bytes(npy_description("<f8", "(3, 2)"), raw<double>({1, 2, nan, 4, 5, inf})));
  const auto binary = open_points({path("x.npy")}, drop);
  EXPECT_EQ(all_of(*binary), (std::vector<double>{1, 2}));
  EXPECT_EQ(binary->row_names(), (std::vector<std::string>{"row 1"}));
  EXPECT_NE(binary->notes().back().find("2 of 3 rows have missing or infinite values and are left out (rows 2, 3)"),
            std::string::npos);
  const auto infinite = open_points({put("x.csv", "1,2\n-inf,3\n4,5\n")}, drop);
  EXPECT_EQ(all_of(*infinite), (std::vector<double>{1, 2, 4, 5}));
  EXPECT_NE(infinite->notes().back().find("1 of 3 rows has infinite values and is left out (row 2)"), std::string::npos);
}

TEST_F(IoText, DecimalCommas) {
  same("1;2,5\n-3;4e2\n");
  same("x;y\n1,0;2,5\n-3;4,0e2\n");
  same("1,0\t2,5\n-3\t400\n", "x.tsv");
  EXPECT_NE(open_points({put("x.csv", "1;2,5\n3;4\n")})->notes()[0].find("decimal commas"), std::string::npos);
  EXPECT_EQ(open_points({put("x.csv", "1;2.5\n3;4\n")})->notes()[0].find("decimal commas"), std::string::npos);
  EXPECT_TRUE(says(refusal("1,5;2,5\n3.5;4,5\n"), "'3.5' is not a number"));
  EXPECT_TRUE(says(refusal("1.5;2.5\n3.5;4,5\n"), "'4,5' is not a number"));
  EXPECT_TRUE(says(refusal("1,5;2,5\n1.234,5;4,5\n"), "thousands"));
}

TEST_F(IoText, CommasThatMayBeDecimalOnes) {
  for (const char* doubtful :
       {"g0 -0,544\ng1 1,25\n", "0,5 1,25\n2,5 3,75\n", "1 2,5\n3 4,5\n", "g0 0,5 7\ng1 1,5 NA\n", "sample 1,5\n"}) {
    SCOPED_TRACE(doubtful);
    EXPECT_TRUE(says(refusal(doubtful), "decimal commas between blanks"));
  }
  for (const char* clear : {"g 0,0.5\ng 1,1.5\n", "name,value\ng 0,5\ng 1,6\n", "\"g 0\",5\n\"g 1\",6\n", "g 0,5,6\ng 1,7,8\n",
                            "g a,5\ng b,6\n", "1, 2\n3, 4\n", "1 ,2\n3 ,4\n", "g0 1,2.5\ng1 2,3\n"}) {
    SCOPED_TRACE(clear);
    EXPECT_NO_THROW(open_points({put("x.csv", clear)}));
  }
}

TEST_F(IoText, HalvesAndThousandsAreANote) {
  const auto notes = [&](const std::string& name, const std::string& content) {
    std::string all;
    for (const std::string& note : open_points({put(name, content)})->notes()) all += note + "\n";
    return all;
  };
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  EXPECT_TRUE(has(notes("x.csv", "0,25\n-1,5\n"), "decimal commas of one column"));
  for (const char* clear : {"x,y\n0,25\n1,5\n", "0,25\n1,-5\n", "0,25,1\n1,5,1\n", "0,25\n1.5,5\n", "g,5\nh,6\n"})
    EXPECT_FALSE(has(notes("x.csv", clear), "one column")) << clear;
  EXPECT_TRUE(has(notes("x.tsv", "1,234\t2,345\n999\t-15\n"), "a thousand times too small"));
  EXPECT_TRUE(has(notes("x.csv", "a;b\n-12,345;1\n"), "a thousand times too small"));
  for (const char* clear :
       {"1,234\t2,3456\n", "0,234\t2,345\n", "1,234\t2,34\n", "1234,567\t1,234\n", "1\t2\n", "1.234\t2.345\n"})
    EXPECT_FALSE(has(notes("x.tsv", clear), "thousand")) << clear;
}

TEST_F(IoText, NamesOfColumns) {
  const auto columns = [&](const std::string& content) { return open_points({put("x.csv", content)})->column_names(); };
  EXPECT_EQ(columns("name,b,a\nx,1,2\ny,3,4\n"), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(columns("1,2\n3,4\n").empty());
  EXPECT_EQ(columns("a,,a\n3,4,5\n"), (std::vector<std::string>{"a", "", "a"}));
  const std::string first = put("1.csv", "a,b\n1,2\n"), swapped = put("2.csv", "b,a\n3,4\n"), other = put("3.csv", "a,c\n5,6\n"),
                    bare = put("4.csv", "7,8\n");
  EXPECT_TRUE(says(error_of([&] { open_points({first, swapped}); }), "in another order: column 1 is \"a\" in " + first));
  EXPECT_EQ(open_points({bare, first})->column_names(), (std::vector<std::string>{"a", "b"}));
  const auto mixed = open_points({first, other});
  EXPECT_TRUE(mixed->column_names().empty());
  EXPECT_NE(mixed->notes()[0].find("names differ: column 2 is \"b\""), std::string::npos);
}

// Every file is compared with what is known of the columns and with every other file, whatever was noted of those between.
TEST_F(IoText, AColumnThatIsCalledAsAnotherOneIsRefused) {
  const auto file = [&](const std::string& name, const std::string& header) {
    std::string row = "5";
    for (const char c : header) row += c == ',' ? ",5.5" : "";
    return put(name, header + "\n" + row + "\n");
  };
  ReadOptions model;
  model.columns = {"a", "b", "c", "d"};
  model.columns_of = "the model";
  const auto refused = [&](const std::vector<std::string>& files, const ReadOptions& options, const std::string& wrong) {
    return says(error_of([&] { open_points(files, options); }), wrong + " has columns of ");
  };
  const std::string capital = file("capital.csv", "A,b,c,d"), swapped = file("swapped.csv", "b,a,c,d"),
                    bare = put("bare.csv", "1.5,2,3,4\n"), right = file("right.csv", "a,b,c,d");
  EXPECT_TRUE(refused({capital, swapped}, model, swapped));
  EXPECT_TRUE(refused({bare, swapped}, model, swapped));
  EXPECT_TRUE(refused({swapped}, model, swapped));
  EXPECT_EQ(open_points({right, bare}, model)->notes().size(), 2u);
  EXPECT_NE(open_points({right, capital}, model)->notes()[0].find("column 1 is \"a\" in the model and \"A\""), std::string::npos);
  const std::string last = file("last.csv", "b,c,a");
  EXPECT_TRUE(refused({file("1.csv", "x,y,z"), file("2.csv", "a,b,c"), last}, {}, last));
  struct Case {
    const char *known, *given;
  };
  for (const auto& [known, given] : {Case{"a,b,c", "b,x,a"},
                                     {"a,b,c", "C,A,B"},
                                     {"a,b,c,c", "b,a,c,c"},
                                     {"a,b,,d", "b,a,,d"},
                                     {"a,A,b", "A,a,b"},
                                     {"É,È,Жук", "È,é,x"},
                                     {"Жук,ю,b", "Ю,жук,b"}})
    EXPECT_TRUE(refused({file("1.csv", known), file("2.csv", given)}, {}, path("2.csv"))) << given;
  for (const auto& [known, given] :
       {Case{"a,b,b", "a,a,b"}, {"a,b,c", "A,B,C"}, {"é,ж,c", "É,Ж,c"}, {"a,b,", "a,b,c"}, {"a,b,c", "x,y,z"}})
    EXPECT_EQ(open_points({file("1.csv", known), file("2.csv", given)})->notes().size(), 3u) << given;
}

TEST_F(IoText, AHeaderOfNumbersIsKnownByTheNamesOfTheColumns) {
  const auto refused = [&](const std::vector<std::string>& files, const ReadOptions& options = {}) {
    return says(error_of([&] { open_points(files, options); }), "in another order");
  };
  ReadOptions model;
  model.columns = {"10", "20", "50"};
  model.columns_of = "the model";
  const std::string file = put("x.csv", "20,10,50\n0.5,1,2\n1,2,3\n"), named = put("y.csv", "name,10,20,50\nr,1,2,3\n"),
                    indexed = put("z.csv", ",20,10,50\n0,5,1,2\n");
  EXPECT_EQ(open_points({file})->rows(), 3u);
  EXPECT_TRUE(refused({file}, model));
  EXPECT_TRUE(refused({indexed}, model));
  EXPECT_TRUE(refused({named, file}));
  EXPECT_TRUE(refused({file, named}));
  EXPECT_EQ(open_points({put("r.csv", "10,20,50\n0.5,1,2\n1,2,3\n")}, model)->rows(), 2u);
  EXPECT_EQ(open_points({put("r.csv", "10,20,50\n20,10,50\n")}, model)->rows(), 2u) << "rows of the same kind are rows";
  model.header = false;
  EXPECT_EQ(open_points({file}, model)->rows(), 3u);
}

// As np.savetxt writes it.
TEST_F(IoText, ACommentThatNamesEveryColumnIsTheHeader) {
  const auto columns = [&](const std::string& content, const ReadOptions& options = {}) {
    return open_points({put("x.csv", content)}, options)->column_names();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(columns("# made by hand\n# a,b\n1,2\n3,4\n"), (Names{"a", "b"}));
  EXPECT_EQ(columns("# a b\n1 2\n3 4\n"), (Names{"a", "b"}));
  EXPECT_EQ(columns("# n,a,b\nx,1,2\ny,3,4\n"), (Names{"a", "b"}));
  EXPECT_EQ(columns("# a,b\nx,1,2\ny,3,4\n"), (Names{"a", "b"}));
  EXPECT_EQ(columns("# a,b\nc,d\n1,2\n"), (Names{"c", "d"}));
  for (const char* none : {"# a,b,c\n1,2\n", "# a,2\n1,2\n", "# a,b\n# note\n1,2\n", "1,2\n# a,b\n3,4\n"})
    EXPECT_TRUE(columns(none).empty()) << none;
  ReadOptions no_header;
  no_header.header = false;
  EXPECT_TRUE(columns("# a,b\n1,2\n3,4\n", no_header).empty());
  EXPECT_NE(open_points({put("x.csv", "# a,b\n1,2\n")})->notes()[0].find("the comment in line 1 is the header (\"a\", \"b\")"),
            std::string::npos);
}

TEST_F(IoText, CommentsBelowTheFirstRowAreSaid) {
  const auto notes = [&](const std::string& content) { return open_points({put("x.csv", content)})->notes(); };
  EXPECT_EQ(notes("# above\nn,a\n# units\nx,1\ny,2\n").size(), 1u);
  EXPECT_NE(notes("n,a\nx,1\n#y,2\nz,3\n")
                .back()
                .find("1 line below the first row begins with # and is left out as a comment (line 3)"),
            std::string::npos);
  EXPECT_NE(notes("x,1\n#y,2\nz,3\n#w,4\n")
                .back()
                .find("2 lines below the first row begin with # and are left out as comments (line 2, ...)"),
            std::string::npos);
}

TEST_F(IoText, Gzip) {
  const auto packed = [&](const std::string& name, const std::string& content) {
    const gzFile out = gzopen(path(name).c_str(), "wb");
    gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
    gzclose(out);
    return path(name);
  };
  for (const char* name : {"x.csv.gz", "x.TXT.GZ", "x.csv", "unsuffixed"}) {
    const auto source = open_points({packed(name, "x,y\n1,2.5\n-3,4e2\n")});
    EXPECT_EQ(all_of(*source), (std::vector<double>{1, 2.5, -3, 4e2}));
    EXPECT_NE(source->notes()[0].find("gzip"), std::string::npos);
  }
  std::string many;
  for (int row = 0; row < 20000; ++row) many += std::to_string(row * 7919 % 10007) + ",0.5\n";
  packed("x.csv.gz", many);
  const std::string whole = get("x.csv.gz");
  for (const std::size_t cut : {whole.size() - 1, whole.size() - 9, whole.size() / 2, std::size_t{11}})
    EXPECT_TRUE(says(refusal(whole.substr(0, cut), "cut.csv.gz"), "gzip data are damaged or were cut short")) << cut;
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(~changed[whole.size() / 2]);
  EXPECT_EQ(error_of([&] { open_points({put("changed.csv.gz", changed)}); }).kind(), Failure::input);
  EXPECT_TRUE(says(error_of([&] { open_points({packed("x.npy.gz", npy_bytes("{}", ""))}); }), "unpack it first"));
}

// Members in a row are one stream and zeros pad its end, as for gzip; anything else behind the last member is no longer the file.
TEST_F(IoText, WhatFollowsAGzipMember) {
  const auto packed = [&](const std::string& content) {
    const gzFile out = gzopen(path("member").c_str(), "wb");
    gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
    gzclose(out);
    return get("member");
  };
  const std::string one = packed("1,2\n"), two = packed("3,4\n5,6\n");
  const auto values = [&](const std::string& bytes) { return all_of(*open_points({put("x.csv.gz", bytes)})); };
  EXPECT_EQ(values(one + packed("") + two), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(one + std::string(200000, '\0')), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(packed("7,") + packed("8\n")), (std::vector<double>{7, 8}));
  for (const std::string& junk : {std::string("x"), std::string("3,4\n"), std::string("\x1f"), std::string(3, '\0') + "junk"})
    EXPECT_TRUE(says(refusal(one + junk, "x.csv.gz"), "follow the end of its gzip data"));
  for (std::size_t cut = 1; cut < 4; ++cut)
    EXPECT_TRUE(says(refusal(one + two.substr(0, two.size() - cut), "x.csv.gz"), "cut short"));
}

TEST_F(IoText, ALineWithoutEnd) {
  const Error error = error_of([] { open_points({"/dev/zero"}); });
  EXPECT_EQ(error.kind(), Failure::input);
  EXPECT_TRUE(says(error, "/dev/zero, line 1: longer than 64 MiB"));
}

TEST_F(IoText, LongLinesAndManyRows) {
  // lines longer than the reading buffer, and more rows than a block of memory
  std::string wide, tall;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 200000; ++column)
      wide += std::to_string(row * 200000 + column + 7) + (column == 199999 ? "\n" : ",");
  }
  for (int row = 0; row < 300000; ++row) tall += std::to_string(row) + " 0.5\n";
  const auto long_lines = open_points({put("wide.csv", wide)});
  ASSERT_EQ(long_lines->dimension(), 200000u);
  ASSERT_EQ(long_lines->rows(), 3u);
  const auto values = all_of(*long_lines);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i + 7));
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
