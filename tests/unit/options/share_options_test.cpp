#include "options/share_options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/job.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

ElementFormat again(const ElementFormat& element) {
  Job job;
  job.element = element;
  return element_of_job(resumable_job(job, {}), element.bytes());
}

TEST(ShareOptions, KnowEveryKeyAgainByItsDescription) {
  for (const KeyType type : kAllKeyTypes) {
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const KeyFormat key{type, big_endian, descending};
        const ElementFormat found = again({key, {}});
        EXPECT_EQ(found.key, key) << name_of(type);
        EXPECT_FALSE(found.records);
        if (!is_float(type)) continue;
        KeyFormat total = key;
        total.float_order = FloatOrder::kTotal;
        EXPECT_EQ(again({total, {}}).key, total) << name_of(type);
      }
    }
  }
}

TEST(ShareOptions, KnowRecordsAgainByTheirDescription) {
  const RecordFormat one{100, {{0, 10, {}, false, true}}};
  EXPECT_EQ(again({{}, one}).records, one);
  const RecordFormat several{
      24, {{8, 4, KeyType::kF32, true, false}, {0, 8, KeyType::kTime64, false, true}}};
  EXPECT_EQ(again({{}, several}).records, several);
}

TEST(ShareOptions, RefuseOtherDescriptions) {
  for (const char* const text :
       {"", "u32", "u33 little endian ascending; x", "u32 middle endian ascending;",
        "records of 12 bytes;", "records of 12 bytes, i32 of 4 at little endian ascending;"}) {
    for (const std::uint64_t bytes : {4U, 12U}) {
      EXPECT_THROW((void)element_of_job(text, bytes), Error) << text;
    }
  }
}

// As somebody may have written them.
TEST(ShareOptions, RefuseElementsThatCannotBe) {
  const auto refused = [](const std::string& text, std::uint64_t bytes) {
    const std::string key = text + " little endian ascending; verified";
    return test::error_of([&] { (void)element_of_job(key, bytes); }).kind() ==
           ErrorKind::kTemporary;
  };
  EXPECT_NO_THROW(
      (void)element_of_job("records of 12 bytes, i32 of 4 at 8 little endian ascending", 12));
  EXPECT_TRUE(refused("records of 12 bytes, i32 of 4 at 4294967295", 12));
  EXPECT_TRUE(refused("records of 12 bytes, i32 of 4 at 9", 12));
  EXPECT_TRUE(refused("records of 12 bytes, i32 of 4 at -4", 12));
  EXPECT_TRUE(refused("records of 12 bytes, i32 of 8 at 0", 12));
  EXPECT_TRUE(refused("records of 12 bytes, bytes of 0 at 0", 12));
  EXPECT_TRUE(refused("records of 0 bytes, bytes of 1 at 0", 0));
  EXPECT_TRUE(refused("records of 64 bytes, bytes of 33 at 0", 64));
  EXPECT_TRUE(refused("records of 400000 bytes, bytes of 8 at 0", 400000));
  EXPECT_TRUE(refused("records of 4294967295 bytes, bytes of 4294967295 at 0", 4294967295));
  EXPECT_TRUE(refused("records of 12 bytes, i32 of 4 at 8", 8));
  EXPECT_TRUE(refused("u32", 8));
  EXPECT_TRUE(
      refused("records of 8 bytes, u32 of 4 at 0 little endian ascending, bytes of 2 at 3", 8));
}

}  // namespace
}  // namespace gsort
