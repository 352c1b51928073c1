#include "element/record.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "element/fingerprint.hpp"
#include "element/record_text.hpp"
#include "engine/record_footprint.hpp"

namespace gsort {
namespace {

const std::byte* bytes_of_text(std::string_view text) {
  return reinterpret_cast<const std::byte*>(text.data());
}

KeyField number(std::uint32_t offset, KeyType type) {
  return {offset, static_cast<std::uint32_t>(bytes_of(type)), type, false, false};
}
KeyField text(std::uint32_t offset, std::uint32_t bytes) {
  return {offset, bytes, std::nullopt, false, false};
}
KeyField reversed(KeyField key) {
  key.descending = true;
  return key;
}

TEST(RecordOrder, NormalisesAsTheExampleOfTheHeaderSays) {
  const RecordOrder order({6, {number(4, KeyType::kI16), reversed(text(0, 2))}});
  const std::string record = "ab..\xff\xff";
  EXPECT_EQ(order.normalised_key(bytes_of_text(record)), "\x7f\xff\x9e\x9d");
  EXPECT_EQ(order.prefix_of(bytes_of_text(record)), 0x7fff9e9d00000000U);
  EXPECT_EQ(order.key_bytes(), 4U);
  EXPECT_TRUE(order.prefix_is_whole());
}

TEST(RecordOrder, TakesThePrefixFromTheFirstEightBytesOfTheKeys) {
  const std::string record = "0123456789abcdef";
  const RecordOrder longer({16, {text(0, 10)}});
  EXPECT_EQ(longer.prefix_of(bytes_of_text(record)), 0x3031323334353637U);
  EXPECT_FALSE(longer.prefix_is_whole());
  const RecordOrder across({16, {text(0, 5), text(10, 6)}});
  EXPECT_EQ(across.prefix_of(bytes_of_text(record)), 0x3031323334616263U);
  EXPECT_EQ(across.normalised_key(bytes_of_text(record)), "01234abcdef");
}

TEST(RecordOrder, ComparesNumbersByTheirTypeAndByteOrder) {
  const auto record_of = [](float value, bool big_endian) {
    std::vector<std::byte> bytes(8);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    if (big_endian) bits = swap_bytes(bits);
    std::memcpy(bytes.data(), &bits, 4);
    return bytes;
  };
  for (const bool big_endian : {false, true}) {
    for (const bool descending : {false, true}) {
      const RecordOrder order({4, {{0, 4, KeyType::kF32, big_endian, descending}}});
      const auto low = record_of(-2.5F, big_endian);
      const auto high = record_of(1.0F, big_endian);
      const int sign = descending ? -1 : 1;
      EXPECT_EQ(order.compare(low.data(), high.data()), -sign);
      EXPECT_EQ(order.compare(high.data(), low.data()), sign);
      EXPECT_EQ(order.compare(low.data(), low.data()), 0);
    }
  }
}

TEST(RecordOrder, FindsTheFirstDisorderAlsoBehindThePrefix) {
  const RecordOrder order({12, {text(0, 10)}});
  const auto disorder = [&](std::string_view records) {
    return order.first_disorder({bytes_of_text(records), records.size()});
  };
  EXPECT_EQ(disorder(""), 0U);
  EXPECT_EQ(disorder("aaaaaaaaaa.."), 1U);
  EXPECT_EQ(disorder("aaaaaaaaab.9aaaaaaaaab.1aaaaaaaabb.."), 3U);  // equal keys are in order
  EXPECT_EQ(disorder("aaaaaaaaab..aaaaaaaaaa..zzzzzzzzzz.."), 0U);
  EXPECT_EQ(disorder("aaaaaaaaab..b...........azzzzzzzzz.."), 1U);
}

TEST(RecordText, ShowsKeysAndTheirValues) {
  const RecordFormat format{7, {number(0, KeyType::kI16), reversed(text(2, 5))}};
  EXPECT_EQ(describe_keys(format), "0:i16 ascending, 2:bytes5 descending");
  const std::string record =
      "\xfe\xff"
      "a\x1b\"\xff'";
  EXPECT_EQ(text_of_keys({{}, format}, bytes_of_text(record)), "-2, 'a\\x1b\"\\xff''");
}

TEST(RecordText, TellsDisorderWithTheWantedOrder) {
  const ElementFormat keys{{KeyType::kI16, false, true}, std::nullopt};
  EXPECT_EQ(disorder_words(keys, false, 1'234, "7", "-3"),
            "element 1,234 is out of order: 7 after -3 (wanted: descending)");
  const ElementFormat records{{},
                              RecordFormat{12, {reversed(number(8, KeyType::kU32)), text(0, 2)}}};
  EXPECT_EQ(disorder_words(records, true, 1, "7, 'a'", "7, 'a'"),
            "element 1 is out of order: 7, 'a' after 7, 'a' (wanted: by 8:u32 descending, 0:bytes2 "
            "ascending, one of each key)");
}

TEST(RecordFingerprint, SeesEveryByteAndNoOrder) {
  const std::string records = "abcdefghij";
  const auto of = [](std::string_view bytes, std::size_t size) {
    return fingerprint_of_records({bytes_of_text(bytes), bytes.size()}, size);
  };
  EXPECT_EQ(of(records, 5), of("fghijabcde", 5));
  EXPECT_EQ(of(records, 5).count, 2U);
  EXPECT_EQ(of("", 5), Fingerprint{});
  for (std::size_t at = 0; at < records.size(); ++at) {
    std::string other = records;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_NE(of(records, 5), of(other, 5)) << at;
  }
  EXPECT_NE(of("fghijfghij", 5), of("abcdeabcde", 5));
  EXPECT_NE(of(records, 5), of(records, 2));
}

TEST(RecordBlocks, AreWholeRecordsAndWherePossibleWholePages) {
  EXPECT_EQ(record_block_bytes(8, 256 * kKiB), 256 * kKiB);
  EXPECT_EQ(record_block_bytes(100, 256 * kKiB), 204'800U);  // lcm(100, 4096) = 102,400
  EXPECT_EQ(record_block_bytes(100, 4 * kKiB), 4'000U);
  EXPECT_EQ(record_block_bytes(16'381, 64 * kKiB), 4U * 16'381);
  EXPECT_EQ(record_block_bytes(16'384, 4 * kKiB), 16'384U);
}

}  // namespace
}  // namespace gsort
