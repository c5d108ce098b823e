// .npy in and out, stacking, and what is said about files that cannot be read.
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "io/element.hpp"
#include "io/open_points.hpp"
#include "io/write_table.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class IoNpy : public TemporaryFolder {
 protected:
  std::vector<double> read(const std::string& bytes) {
    const auto source = open_points({put("x.npy", bytes)});
    EXPECT_EQ(source->rows(), 3u);
    EXPECT_EQ(source->dimension(), 2u);
    exact_ = source->exact_in_float();
    return all_of(*source);
  }
  template <class T>
  void check(const std::string& kind, bool exact) {
    const std::vector<T> values = {T(1), T(2), T(3), T(4), T(5), T(126)};
    const std::vector<double> wanted = {1, 2, 3, 4, 5, 126};
    for (const bool big : {false, true}) {
      SCOPED_TRACE(kind + (big ? " big-endian" : " little-endian"));
      EXPECT_EQ(read(npy_bytes(npy_description((big ? ">" : "<") + kind, "(3, 2)"), raw(values, big))), wanted);
      EXPECT_EQ(exact_, exact);
      const std::vector<T> columns = {T(1), T(3), T(5), T(2), T(4), T(126)};
      EXPECT_EQ(read(npy_bytes(npy_description((big ? ">" : "<") + kind, "(3, 2)", true), raw(columns, big))), wanted);
    }
  }
  Error refusal(const std::string& bytes, const std::string& name = "x.npy") {
    return error_of([&] { open_points({put(name, bytes)}); });
  }
  bool exact_ = false;
};

TEST_F(IoNpy, EveryTypeByteOrderAndLayout) {
  check<float>("f4", true);
  check<double>("f8", false);
  check<std::int8_t>("i1", true);
  check<std::int16_t>("i2", true);
  check<std::int32_t>("i4", false);
  check<std::int64_t>("i8", false);
  check<std::uint8_t>("u1", true);
  check<std::uint16_t>("u2", true);
  check<std::uint32_t>("u4", false);
  check<std::uint64_t>("u8", false);
}

// Version 2 is for headings of 65,536 bytes and more, as of tables with many named fields.
TEST_F(IoNpy, LongHeading) {
  const std::string description = npy_description("<i2", "(3, 2)") + std::string(70000, ' ');
  const std::string data = raw<std::int16_t>({1, 2, 3, 4, 5, 6});
  for (const int version : {2, 3})
    EXPECT_EQ(read(npy_bytes(description, data, version)), (std::vector<double>{1, 2, 3, 4, 5, 6})) << version;
}

// Columns longer than what is read at a time.
TEST_F(IoNpy, ColumnsInPieces) {
  const std::size_t rows = (std::size_t{1} << 20) + 3000;
  std::vector<std::int8_t> columns(2 * rows);
  const auto value = [](std::size_t row, std::size_t column) { return static_cast<std::int8_t>((row * (column + 3)) % 101); };
  for (std::size_t column = 0; column < 2; ++column)
    for (std::size_t row = 0; row < rows; ++row) columns[column * rows + row] = value(row, column);
  const std::string shape = "(" + std::to_string(rows) + ", 2)";
  const std::string data(reinterpret_cast<const char*>(columns.data()), columns.size());
  const auto source = open_points({put("x.npy", npy_bytes(npy_description("|i1", shape, true), data))});
  std::vector<double> read(2 * rows);
  source->read(0, rows, read.data());
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < 2; ++column) wrong += read[row * 2 + column] != value(row, column) ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
}

TEST_F(IoNpy, SignsAndBooleans) {
  EXPECT_EQ(read(npy_bytes(npy_description("<i2", "(3, 2)"), raw<std::int16_t>({-1, -32768, 0, 1, 2, 3}))),
            (std::vector<double>{-1, -32768, 0, 1, 2, 3}));
  EXPECT_EQ(read(npy_bytes(npy_description("|b1", "(3, 2)"), raw<std::uint8_t>({0, 1, 1, 0, 1, 0}))),
            (std::vector<double>{0, 1, 1, 0, 1, 0}));
  EXPECT_TRUE(exact_);
}

TEST_F(IoNpy, Half) {
  // largest, smallest normal, largest and smallest subnormal, one third, minus two
  const std::vector<std::uint16_t> bits = {0x7bff, 0x0400, 0x03ff, 0x0001, 0x3555, 0xc000};
  const std::vector<double> wanted = {65504, 0x1p-14, 1023 * 0x1p-24, 0x1p-24, 0.333251953125, -2};
  EXPECT_EQ(read(npy_bytes(npy_description("<f2", "(3, 2)"), raw(bits))), wanted);
  EXPECT_TRUE(exact_);
  EXPECT_EQ(read(npy_bytes(npy_description(">f2", "(3, 2)"), raw(bits, true))), wanted);
  EXPECT_EQ(half_to_double(0x7c00), std::numeric_limits<double>::infinity());
  EXPECT_EQ(half_to_double(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(half_to_double(0x7e00)));
  EXPECT_TRUE(std::signbit(half_to_double(0x8000)));
}

TEST_F(IoNpy, Versions) {
  for (const int major : {1, 2, 3})
    EXPECT_EQ(read(npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}), major))[5], 6);
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}), 4)), "version 4.0"));
}

TEST_F(IoNpy, AnyRangeOfRows) {
  for (const bool fortran : {false, true}) {
    const std::size_t rows = 1000, columns = 300;  // more than one piece of the reader's buffer
    std::vector<double> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(fortran ? i % rows * columns + i / rows : i);
    const auto source = open_points({put("x.npy", npy_bytes(npy_description("<f8", "(1000, 300)", fortran), raw(values)))});
    for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 1000}, {999, 1}, {17, 600}, {5, 0}}) {
      std::vector<double> out(count * columns + 1, -1);
      source->read(first, count, out.data());
      for (std::size_t i = 0; i < count * columns; ++i) ASSERT_EQ(out[i], static_cast<double>(first * columns + i));
      EXPECT_EQ(out.back(), -1);
    }
  }
}

TEST_F(IoNpy, HeaderSpellings) {
  const std::string data = raw<float>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(read(npy_bytes("{\"shape\": (3L, 2L), 'fortran_order':False,'descr':'=f4'}", data))[5], 6);
  EXPECT_EQ(read(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2,), }     ", data))[5], 6);
}

TEST_F(IoNpy, Shapes) {
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(3,)"), raw<float>({1, 2, 3}))), "x.reshape(-1, 1)"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "()"), raw<float>({1}))), "shape ()"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(1, 3, 1)"), raw<float>({1, 2, 3}))), "x.reshape(len(x), -1)"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(0, 3)"), "")), "holds no points"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(3, 0)"), "")), "holds no points"));
}

TEST_F(IoNpy, ForeignTypes) {
  const auto of = [&](const std::string& kind) {
    return refusal(npy_bytes(npy_description(kind, "(1, 1)"), std::string(16, '\0')));
  };
  EXPECT_TRUE(says(of("<c16"), "complex"));
  EXPECT_TRUE(says(of("|O"), "objects"));
  EXPECT_TRUE(says(of("<U4"), "text"));
  EXPECT_TRUE(says(of("<M8[ns]"), "dates"));
  EXPECT_TRUE(says(of("|V16"), "records"));
  EXPECT_TRUE(says(of(">f16"), "float64"));
  EXPECT_TRUE(says(of("<i99999999999999999999"), "float64"));
  EXPECT_TRUE(says(of(""), "float64"));
  EXPECT_TRUE(says(refusal(npy_bytes("{'descr': [('a', '<f4'), ('b', '<i4', (2,))], 'fortran_order': False, 'shape': (1,), }",
                                     std::string(12, '\0'))),
                   "records"));
}

TEST_F(IoNpy, LyingHeaders) {
  const std::string data = raw<float>({1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(4, 2)"), data)), "cut short"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(2, 2)"), data)), "the file holds 24 bytes"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(4611686018427387904, 4)"), data)), "more than any file can hold"));
  EXPECT_TRUE(
      says(refusal(npy_bytes(npy_description("<f4", "(4611686018427387904, 4, 0)"), data)), "more than any file can hold"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(99999999999999999999999, 4)"), data)), "too large"));
  EXPECT_TRUE(says(refusal(npy_bytes(npy_description("<f4", "(-1, 4)"), data)), "shape"));
  EXPECT_TRUE(says(refusal(npy_bytes("{'descr': '<f4', 'shape': (3, 2), }", data)), "missing"));
  EXPECT_TRUE(says(refusal(npy_bytes("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 2), }", data)), "fortran_order"));
  EXPECT_TRUE(says(refusal(npy_bytes("", data)), "damaged"));
  EXPECT_TRUE(says(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + data), "claims"));
  EXPECT_TRUE(says(refusal("not an array at all"), "is not a .npy array"));
  EXPECT_TRUE(says(refusal(""), "is empty"));
  EXPECT_EQ(refusal("").kind(), Failure::input);
}

TEST_F(IoNpy, EveryPrefixIsRefused) {
  for (const int major : {1, 2}) {
    const std::string whole = npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}), major);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      SCOPED_TRACE(length);
      EXPECT_EQ(refusal(whole.substr(0, length)).kind(), Failure::input);
    }
    EXPECT_EQ(read(whole)[5], 6);
  }
}

TEST_F(IoNpy, EveryChangedByteIsAnErrorOrATable) {
  const std::string whole = npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char wrong : {'\0', '\xff', '9', '\'', ')', '{'}) {
      std::string changed = whole;
      changed[at] = wrong;
      try {
        all_of(*open_points({put("x.npy", changed)}));
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Failure::input);
        ++refused;
      }
    }
  EXPECT_GT(refused, whole.size());
}

TEST_F(IoNpy, Stacking) {
  const std::string a = put("a.npy", npy_bytes(npy_description("<f4", "(2, 2)"), raw<float>({1, 2, 3, 4})));
  const std::string b = put("b.npy", npy_bytes(npy_description("<f8", "(1, 2)"), raw<double>({5, 6})));
  const std::string c = put("c.csv", "7,8\n9,10\n");
  const auto stacked = open_points({a, b, c, a});
  EXPECT_EQ(stacked->rows(), 7u);
  EXPECT_EQ(all_of(*stacked), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4}));
  std::vector<double> part(8);
  stacked->read(1, 4, part.data());
  EXPECT_EQ(part, (std::vector<double>{3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_FALSE(stacked->exact_in_float());
  EXPECT_TRUE(open_points({a, a})->exact_in_float());
  const std::string narrow = put("narrow.npy", npy_bytes(npy_description("<f4", "(1, 1)"), raw<float>({1})));
  const Error error = error_of([&] { open_points({a, b, narrow}); });
  EXPECT_TRUE(says(error, a + " has 2 columns"));
  EXPECT_TRUE(says(error, narrow + " has 1"));
}

TEST_F(IoNpy, Paths) {
  Error error = error_of([&] { open_points({path("none.npy")}); });
  EXPECT_EQ(error.kind(), Failure::io);
  EXPECT_TRUE(says(error, "No such file"));
  error = error_of([&] { open_points({path("none.npz") + ":a"}); });
  EXPECT_EQ(error.kind(), Failure::io);
  EXPECT_TRUE(says(error, path("none.npz") + ": No such file"));
  error = error_of([&] { open_points({folder_.string()}); });
  EXPECT_EQ(error.kind(), Failure::io);
  EXPECT_TRUE(says(error, "directory"));
  EXPECT_TRUE(says(refusal("some words", "x.dat"), "no numbers")) << "text is read whatever its suffix";
  error = refusal("\x01\x02\x03", "x.dat");
  EXPECT_TRUE(says(error, ".npy .npz .h5 .hdf5 .h5ad .csv .tsv .txt"));
  EXPECT_TRUE(says(refusal("\x1f\x8b", "x.csv.gz"), "gzip"));
  EXPECT_EQ(error_of([&] { open_points({}); }).kind(), Failure::misuse);
  EXPECT_EQ(error_of([&] { open_points({""}); }).kind(), Failure::misuse);
  EXPECT_EQ(error_of([&] { open_points({"-", "-"}); }).kind(), Failure::misuse);
  const std::string array = npy_bytes(npy_description("<f4", "(3, 2)"), raw<float>({1, 2, 3, 4, 5, 6}));
  error = error_of([&] { open_points({put("x.npy", array) + ":part"}); });
  EXPECT_EQ(error.kind(), Failure::misuse);
  EXPECT_EQ(open_points({put("X.NPY", array)})->rows(), 3u);
  EXPECT_EQ(open_points({put("by-its-first-bytes", array)})->rows(), 3u);
  EXPECT_EQ(open_points({put("a:b.npy", array)})->rows(), 3u);
  if (::geteuid() != 0) {
    ::chmod(path("x.npy").c_str(), 0);
    EXPECT_EQ(error_of([&] { open_points({path("x.npy")}); }).kind(), Failure::io);
  }
}

TEST_F(IoNpy, Described) {
  put("a.txt", "123456789");
  const auto described = describe_inputs({path("a.txt"), "-"});
  EXPECT_EQ(described[0].path, path("a.txt"));
  EXPECT_EQ(described[0].bytes, 9u);
  EXPECT_EQ(described[0].crc32, "cbf43926");  // the check value of the CRC-32 of zip
  EXPECT_EQ(described[1].crc32, "");
}

TEST_F(IoNpy, LongDoubles) {
  // x86's extended type by hand: mantissa, exponent and sign, padding that holds anything.
  const auto extended = [](std::uint64_t mantissa, std::uint16_t exponent, std::size_t size) {
    return raw<std::uint64_t>({mantissa}) + raw<std::uint16_t>({exponent}) + std::string(size - 10, '\x5a');
  };
  for (const std::size_t size : {12, 16}) {
    const std::uint64_t one = std::uint64_t{1} << 63;
    const std::string data = extended(one, 16383, size) + extended(one | one >> 1, 16383 | 0x8000, size) +
                             extended(0xccccccccccccd000, 16383 - 4, size) + extended(one, 0x7fff, size) +
                             extended(one | 1, 0x7fff, size) + extended(0, 0, size) + extended(one, 32766, size) +
                             extended(one, 1, size);
    put("x.npy", npy_bytes(npy_description("<f" + std::to_string(size), "(4, 2)"), data));
    const auto source = open_points({path("x.npy")});
    const auto values = all_of(*source);
    EXPECT_EQ(values[0], 1);
    EXPECT_EQ(values[1], -1.5);
    EXPECT_EQ(values[2], 0.1);  // its 53 bits, as a double has them
    EXPECT_EQ(values[3], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(values[4]));
    EXPECT_EQ(values[5], 0);
    EXPECT_EQ(values[6], std::numeric_limits<double>::infinity());  // 2^16383: more than a double holds
    EXPECT_EQ(values[7], 0);                                        // 2^-16382: less
    EXPECT_FALSE(source->exact_in_float());
  }
  put("x.npy", npy_bytes(npy_description(">f16", "(1, 1)"), std::string(16, '\0')));
  EXPECT_TRUE(says(error_of([&] { open_points({path("x.npy")}); }), "not known here"));
}

TEST_F(IoNpy, ForeignFormats) {
  EXPECT_TRUE(says(error_of([&] { open_points({put("x.parquet", "PAR1")}); }), "read_parquet"));
}

TEST_F(IoNpy, TablesWithNames) {
  Table table(2, 2, true);
  for (std::size_t i = 0; i < 4; ++i) table.set(i / 2, i % 2, 0.1 + static_cast<double>(i));
  const std::vector<std::string> names = {"a, \"b\" #1", "12"};
  for (const char* name : {"out.csv", "out.tsv"}) {
    write_table(table, path(name), names);
    const auto source = open_points({path(name)});
    EXPECT_EQ(all_of(*source), (std::vector<double>{0.1, 1.1, 2.1, 3.1}));
    EXPECT_EQ(source->row_names(), names);
  }
  EXPECT_EQ(get("out.csv"), "name,dc1,dc2\n\"a, \"\"b\"\" #1\",0.1,1.1\n12,2.1,3.1\n");
  write_table(table, path("out.csv"));
  EXPECT_EQ(get("out.csv"), "dc1,dc2\n0.1,1.1\n2.1,3.1\n");
  write_table(table, path("out.txt"), names);
  EXPECT_EQ(get("out.txt"), "0.1 1.1\n2.1 3.1\n");
  write_table(table, path("out.h5"), names);
  EXPECT_EQ(all_of(*open_points({path("out.h5")})), (std::vector<double>{0.1, 1.1, 2.1, 3.1}));
  std::string text;
  write_csv(table, {}, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, "dc1,dc2\n0.1,1.1\n2.1,3.1\n");
  for (const char* name : {"out", "out.xls", "out.npz"})
    EXPECT_EQ(error_of([&] { write_table(table, path(name)); }).kind(), Failure::misuse);
  EXPECT_EQ(error_of([&] { write_table(table, path("out.csv"), {"one"}); }).kind(), Failure::misuse);
  EXPECT_EQ(files(), 4u);
}

TEST_F(IoNpy, WrittenAndReadBack) {
  for (const bool wide : {false, true})
    for (const char* name : {"out.npy", "out.csv", "out.tsv", "out.txt", "out.h5"}) {
      SCOPED_TRACE(name);
      Table table(3, 2, wide);
      const std::vector<double> values = {0.1, -1e-30, 3, 1e30, 5.5, 1.0 / 3};
      for (std::size_t i = 0; i < 6; ++i) table.set(i / 2, i % 2, values[i]);
      write_table(table, path(name));
      const auto source = open_points({path(name)});
      ASSERT_EQ(source->rows(), 3u);
      const auto back = all_of(*source);
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(wide ? back[i] : static_cast<float>(back[i]), table(i / 2, i % 2));
    }
  const std::string bytes = get("out.npy");
  const std::size_t data = 6 * sizeof(double);
  EXPECT_EQ((bytes.size() - data) % 64, 0u);  // numbers start aligned, as np.save has it
  EXPECT_EQ(bytes[bytes.size() - data - 1], '\n');
  EXPECT_EQ(files(), 5u);  // no temporary file is left
}

}  // namespace
}  // namespace fd::io_test
