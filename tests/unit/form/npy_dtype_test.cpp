#include "form/npy_dtype.hpp"

#include <string>

#include "form/npy.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

using test::contains;
using test::error_of;

StoredArray array_of(const std::string& descr) {
  return parse_npy_dictionary("{'descr': " + descr + ", 'fortran_order': False, 'shape': (3,), }",
                              "in.npy")
      .array;
}

std::string complaint(const std::string& descr) {
  const Error error = error_of([&] { (void)array_of(descr); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.path(), "in.npy");
  return std::string(error.what()) + error.hint();
}

KeyField number(std::uint32_t offset, KeyType type, bool big_endian = false) {
  return {offset, static_cast<std::uint32_t>(bytes_of(type)), type, big_endian, false};
}

TEST(NpyDtype, OfBooleansAndTimesIsThatOfTheirNumbersAndStaysInTheHeader) {
  EXPECT_EQ(array_of("'|b1'").key, (KeyFormat{KeyType::kU8, false, false}));
  EXPECT_EQ(array_of("'|b1'").dtype->descr, "'|b1'");
  EXPECT_EQ(array_of("'<M8[ns]'").key, (KeyFormat{KeyType::kTime64, false, false}));
  EXPECT_EQ(array_of("'>m8[25s]'").key, (KeyFormat{KeyType::kTime64, true, false}));
  EXPECT_EQ(array_of("'>m8[25s]'").dtype->descr, "'>m8[25s]'");
  EXPECT_FALSE(array_of("'<i8'").dtype);
}

TEST(NpyDtype, OfKeysWithCountsHasTheirKeys) {
  const auto keys_of = [](const std::string& descr) {
    return keys_of_counted(array_of(descr), "in.npy");
  };
  const StoredArray keys = keys_of("[('key', '>f4'), ('count', '>u8')]");
  EXPECT_EQ(keys.key, (KeyFormat{KeyType::kF32, true, false}));
  EXPECT_FALSE(keys.records);
  EXPECT_EQ(keys.dtype->descr, "[('key', '>f4'), ('count', '>u8')]");
  EXPECT_EQ(keys_of("[('a', '|u1'), ('b', '>u8')]").key, (KeyFormat{KeyType::kU8, true, false}));
  EXPECT_EQ(keys_of("[('t', '<M8[s]'), ('n', '<u8')]").key,
            (KeyFormat{KeyType::kTime64, false, false}));
  for (const char* const other :
       {"'<f4'", "[('key', '<f4')]", "[('key', '<f4'), ('count', '<i8')]",
        "[('key', '<f4'), ('count', '>u8')]", "[('key', '<f4'), ('count', '<u4')]",
        "[('key', 'S2'), ('count', '<u8')]",
        "[('key', '<f4'), ('pad', '|V4'), ('count', '<u8')]"}) {
    const Error error = error_of([&] { (void)keys_of(other); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << other;
    EXPECT_EQ(error.path(), "in.npy");
  }
}

TEST(NpyDtype, OfTextsIsThatOfRecordsOfOneField) {
  const StoredArray bytes = array_of("'|S40'");
  EXPECT_EQ(bytes.element_bytes(), 40U);
  const std::vector<KeyField> two = {{0, 32, std::nullopt, false, false},
                                     {32, 8, std::nullopt, false, false}};
  EXPECT_EQ(bytes.records->fields.at(0).keys, two);
  const StoredArray characters = array_of("'>U2'");
  EXPECT_EQ(characters.element_bytes(), 8U);
  const std::vector<KeyField> numbers = {number(0, KeyType::kU32, true),
                                         number(4, KeyType::kU32, true)};
  EXPECT_EQ(characters.records->fields.at(0).keys, numbers);
}

TEST(NpyDtype, OfRecordsHasFieldsAtTheirOffsets) {
  const std::string descr =
      "[('id', '<u4'), ('', '|V4'), ('at', '>f8', (2, 3)), (('title', 'in'), [('x', '|u1'), "
      "('y', '<c8')]), (\"it's\", '>i2'), ('half', '<f2')]";
  const StoredArray array = array_of(descr);
  EXPECT_FALSE(array.key);
  EXPECT_EQ(array.dtype->descr, descr);
  const StoredRecords& records = *array.records;
  EXPECT_EQ(records.bytes, 4U + 4 + 48 + 9 + 2 + 2);
  ASSERT_EQ(records.fields.size(), 6U);
  EXPECT_EQ(records.fields[0].name, "id");
  EXPECT_EQ(records.fields[0].keys, std::vector{number(0, KeyType::kU32)});
  EXPECT_TRUE(records.fields[1].is_padding);
  EXPECT_EQ(records.fields[2].bytes, 48U);
  EXPECT_TRUE(records.fields[2].keys.empty());
  EXPECT_EQ(records.fields[3].name, "in");
  EXPECT_EQ(records.fields[3].offset, 56U);
  EXPECT_TRUE(records.fields[3].keys.empty());
  EXPECT_EQ(records.fields[4].name, "it's");
  EXPECT_EQ(records.fields[4].keys, std::vector{number(65, KeyType::kI16, true)});
  EXPECT_EQ(records.fields[5].keys, std::vector{number(67, KeyType::kF16)});
  EXPECT_FALSE(records.fields[5].is_padding);
}

TEST(NpyDtype, SaysTheWayOutOfWhatHasNoOrder) {
  EXPECT_TRUE(contains(complaint("'<c16'"), "array.view([('real', 'f4')"));
  EXPECT_TRUE(contains(complaint("[('a', '|O')]"), "field 'a' holds no plain bytes"));
}

TEST(NpyDtype, RefusesRecordsThatAreTooLongOrNone) {
  EXPECT_TRUE(contains(complaint("[('a', '|V16385')]"), "have 16385 bytes"));
  EXPECT_TRUE(contains(complaint("[]"), "have 0 bytes"));
  EXPECT_EQ(array_of("[('a', '|V16384')]").element_bytes(), 16'384U);
}

TEST(NpyDtype, RefusesWhatNumPyDoesNotWrite) {
  std::string nested = "'<i4'";
  for (int depth = 0; depth < 100; ++depth) nested.insert(0, "[('a', ").append(")]");
  for (const std::string& bad :
       {std::string("[('a')]"), std::string("[('a', '<i4')"), std::string("['a']"),
        std::string("[('a', '<i4', 3)]"), std::string("[('a' '<i4')]"),
        std::string("[('a', '<i4', (99999999999,))]"),
        std::string("[('a', '<i4', (65536, 65536))]"), std::string("[('a\\', '<i4')]"), nested}) {
    EXPECT_TRUE(contains(complaint(bad), "it is not in the form NumPy writes")) << bad;
  }
}

TEST(NpyDtype, NamesFieldsInUtf8WhateverTheHeaderIsWrittenIn) {
  const auto parsed = [](const std::string& name, int version) {
    return parse_npy_dictionary(
        "{'descr': [('" + name + "', '<i4')], 'fortran_order': False, 'shape': (3,), }", "in.npy",
        version);
  };
  for (const int version : {1, 2}) {
    const NpyHeader header = parsed(
        "gr\xf6\xdf"
        "e",
        version);
    EXPECT_EQ(header.array.records->fields.front().name,
              "gr\xc3\xb6\xc3\x9f"
              "e");
    EXPECT_EQ(header.array.dtype->descr,
              "[('gr\xf6\xdf"
              "e', '<i4')]");
  }
  const NpyHeader header = parsed(
      "gr\xc3\xb6\xc3\x9f"
      "e",
      3);
  EXPECT_EQ(header.array.records->fields.front().name,
            "gr\xc3\xb6\xc3\x9f"
            "e");
}

TEST(NpyDtype, OfAnyLengthIsWrittenAsItWasRead) {
  for (const int version : {1, 3}) {
    for (const std::size_t fields : {1U, 5U, 400U, 6'000U}) {
      StoredDtype dtype{"[", version};
      for (std::size_t i = 0; i < fields; ++i) dtype.descr += "('', '|V1'), ";
      dtype.descr += "('k', '<i4')]";
      const auto bytes = make_npy_header(dtype, 7);
      EXPECT_EQ(bytes.size() % 64, 0U);
      EXPECT_EQ(bytes.size(), make_npy_header(dtype, UINT64_MAX, 1).size());
      if (fields > 4'000) continue;  // NumPy reads no longer ones, and neither do we
      const std::vector<std::byte> raw(bytes.begin(), bytes.end());
      test::MemoryStream stream(raw);
      const NpyHeader header = read_npy_header(stream, "in.npy");
      EXPECT_EQ(header.array.dtype, dtype);
      EXPECT_EQ(header.elements, 7U);
      EXPECT_EQ(header.header_bytes, bytes.size());
    }
  }
}

}  // namespace
}  // namespace gsort::io
