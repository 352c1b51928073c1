#include "form/npy.hpp"

#include <string>

#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

using test::bytes_of;
using test::contains;
using test::error_of;
using test::MemoryStream;

// A file's header of `version` around `dictionary`.
test::Bytes header_of(int version, const std::string& dictionary) {
  std::string text = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  }
  return bytes_of(text + dictionary);
}

NpyHeader read(const test::Bytes& bytes) {
  MemoryStream stream(bytes);
  return read_npy_header(stream, "in.npy");
}

std::string complaint(const std::string& dictionary) {
  const Error error = error_of([&] { (void)parse_npy_dictionary(dictionary, "in.npy"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.path(), "in.npy");
  EXPECT_FALSE(error.hint().empty());
  return error.what();
}

TEST(Npy, HasTimesAsNumbersWhereNobodyNamedTheirUnit) {
  EXPECT_EQ(npy_dtype_of({KeyType::kTime64, false, false}).descr, "'<i8'");
}

TEST(Npy, HasNumbersThatNumPyLacksAsBytes) {
  EXPECT_EQ(npy_dtype_of({KeyType::kBF16, false, false}).descr, "'|V2'");
  EXPECT_EQ(npy_dtype_of({KeyType::kF16, true, false}).descr, "'>f2'");
}

TEST(Npy, ReadsTheHeadersItMakes) {
  for (const KeyType type : kAllKeyTypes) {
    // For other types, the header has the plain type of the same numbers, or that of bytes.
    if (type == KeyType::kTime64 || type == KeyType::kBF16) continue;
    if (gsort::bytes_of(type) > 8) continue;
    for (const bool big_endian : {false, true}) {
      for (const std::uint64_t elements : {0ULL, 1ULL, 1000ULL, 123'456'789'012ULL}) {
        const KeyFormat key{type, big_endian && gsort::bytes_of(type) > 1, false};
        const auto bytes = make_npy_header(npy_dtype_of(key), elements);
        EXPECT_EQ(bytes.size() % 64, 0U);
        EXPECT_EQ(bytes.back(), std::byte{'\n'});
        const NpyHeader header = read(bytes);
        EXPECT_EQ(header.array.key, key);
        EXPECT_FALSE(header.array.dtype);
        EXPECT_EQ(header.elements, elements);
        EXPECT_EQ(header.header_bytes, bytes.size());
      }
    }
  }
}

TEST(Npy, WritesWhatNumPyWrites) {
  const auto made = make_npy_header(npy_dtype_of({KeyType::kI64}), 1000);
  const std::string dictionary = "{'descr': '<i8', 'fortran_order': False, 'shape': (1000,), }";
  const std::string padding(118 - dictionary.size() - 1, ' ');
  EXPECT_EQ(made, header_of(1, dictionary + padding + "\n"));
}

TEST(Npy, ReadsAllVersionsAndTheStartOnly) {
  for (const int version : {1, 2, 3}) {
    test::Bytes file =
        header_of(version, "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }   \n");
    const std::size_t size = file.size();
    file.resize(size + 12);
    MemoryStream stream(file);
    const NpyHeader header = read_npy_header(stream, "in.npy");
    EXPECT_EQ(header.array.key, (KeyFormat{KeyType::kF32, true, false}));
    EXPECT_EQ(header.elements, 3U);
    EXPECT_EQ(header.header_bytes, size);
    EXPECT_EQ(stream.left(), 12U);
  }
}

TEST(Npy, ReadsTheDictionaryInAnyOrderAndWithOtherQuotes) {
  const NpyHeader header =
      parse_npy_dictionary(R"({"shape":(5,),'fortran_order':False , "descr" : "|u1"})", "in.npy");
  EXPECT_EQ(header.array.key->type, KeyType::kU8);
  EXPECT_EQ(header.elements, 5U);
}

TEST(Npy, ReadsNumbersOfPython2) {
  const NpyHeader header = parse_npy_dictionary(
      "{'descr': [('a', '<i2', (2L,))], 'fortran_order': False, 'shape': (5L,), }", "in.npy");
  EXPECT_EQ(header.array.element_bytes(), 4U);
  EXPECT_EQ(header.elements, 5U);
}

TEST(Npy, ReadsTheLengthOfColumnsInFortranOrder) {
  const auto columns_of = [](const std::string& order_and_shape) {
    const std::string start = "{'descr': '<i4', 'fortran_order': ";
    const NpyHeader header = parse_npy_dictionary(start + order_and_shape, "a.npy");
    EXPECT_EQ(header.elements, 12U);
    return header.column_elements;
  };
  EXPECT_EQ(columns_of("True, 'shape': (3, 4), }"), 3U);
  EXPECT_EQ(columns_of("False, 'shape': (3, 4), }"), 0U);
  EXPECT_EQ(columns_of("True, 'shape': (12,), }"), 0U);
}

TEST(Npy, RefusesArraysThatCannotBeSorted) {
  const std::string rest = ", 'fortran_order': False, 'shape': (3,), }";
  for (const char* const descr : {"'<f3'", "'<c8'", "'|V2'", "'|V5'", "'|O'", "'|S0'", "'<u16'",
                                  "''", "'|i4'", "'=i4'", "'<M8ns'"}) {
    EXPECT_TRUE(contains(complaint(std::string("{'descr': ") + descr + rest), "its dtype is "))
        << descr;
  }
  const std::string start = "{'descr': '<i4', 'fortran_order': ";
  EXPECT_TRUE(contains(complaint(start + "False, 'shape': (), }"), "has 0 dimensions"));
  EXPECT_TRUE(contains(complaint(start + "False, 'shape': (3, 4, 5), }"), "has 3 dimensions"));
  for (const char* const shape : {"(0, 9223372036854775807)", "(0, 2305843009213693952)"}) {
    EXPECT_TRUE(contains(complaint(start + "False, 'shape': " + shape + ", }"), "not in the form"))
        << shape;
  }
  EXPECT_TRUE(contains(complaint(start + "False, 'shape': (2305843009213693951, 2), }"),
                       "not in the form"));
}

TEST(Npy, HasOneDtypeWhateverVersionsItIsWrittenIn) {
  EXPECT_TRUE(is_same_dtype({"'<M8[ns]'", 1}, {"'<M8[ns]'", 2}));
  EXPECT_TRUE(is_same_dtype({"'|b1'", 3}, {"'|b1'", 1}));
  EXPECT_FALSE(is_same_dtype({"'<M8[ns]'", 1}, {"'<M8[s]'", 1}));
  // The same name of a field in Latin-1 and in UTF-8, and the same bytes as two names.
  EXPECT_TRUE(is_same_dtype({"[('\xe9', '<u4')]", 2}, {"[('\xc3\xa9', '<u4')]", 3}));
  EXPECT_FALSE(is_same_dtype({"[('\xc3\xa9', '<u4')]", 1}, {"[('\xc3\xa9', '<u4')]", 3}));
}

TEST(Npy, KeepsTheRowsOfArraysOfTwoDimensions) {
  const StoredDtype key = npy_dtype_of({KeyType::kF32, true, false});
  for (const std::uint64_t rows : {0ULL, 1ULL, 7ULL, 1'000'000'000'000ULL}) {
    const auto bytes = make_npy_header(key, rows * 30, 30);
    const NpyHeader header = read(bytes);
    EXPECT_EQ(header.elements, rows * 30);
    EXPECT_EQ(header.array.row_elements, 30U);
    EXPECT_EQ(header.header_bytes, make_npy_header(key, 1).size());
  }
  EXPECT_EQ(read(make_npy_header(key, 30)).array.row_elements, 0U);
}

TEST(Npy, KeepsTheCountOfRowsWithoutElements) {
  const NpyHeader header =
      parse_npy_dictionary("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 0), }", "in.npy");
  EXPECT_EQ(header.elements, 0U);
  EXPECT_EQ(header.array.empty_rows, 3U);
}

TEST(Npy, RefusesDictionariesThatNumPyDoesNotWrite) {
  for (const char* const bad :
       {"", "{", "{}", "nothing", "{'descr': '<i4', 'fortran_order': False}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } x",
        "{'descr': '<i4' 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<i4', 'fortran_order': No, 'shape': (3,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3000000000000000000,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape: (3,)}"}) {
    EXPECT_TRUE(contains(complaint(bad), "it is not in the form NumPy writes")) << bad;
  }
}

TEST(Npy, RefusesFilesThatAreNone) {
  const auto refused = [](const test::Bytes& bytes, std::string_view reason) {
    const Error error = error_of([&] { (void)read(bytes); });
    EXPECT_TRUE(contains(error.what(), reason)) << error.what();
  };
  refused(bytes_of("keys, keys, keys"), "does not begin as one");
  refused(header_of(4, "{}"), "version 4 is unknown");
  const auto whole = make_npy_header(npy_dtype_of({KeyType::kI64}), 1000);
  for (const std::size_t size : {0U, 6U, 9U, 10U, 127U}) {
    refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "ends within it");
  }
  refused(header_of(2, std::string(70'000, ' ')), "longer than any header");
}

}  // namespace
}  // namespace gsort::io
