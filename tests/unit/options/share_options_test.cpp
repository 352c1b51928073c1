#include "options/share_options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/resume_options.hpp"

namespace gsort {
namespace {

ElementFormat again(const ElementFormat& element) {
  Job job;
  job.element = element;
  return element_of_job(resumable_job(job, {}, true));
}

TEST(ShareOptions, KnowEveryKeyAgainByItsDescription) {
  for (const KeyType type : kAllKeyTypes) {
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const KeyFormat key{type, big_endian, descending};
        const ElementFormat found = again({key, {}});
        EXPECT_EQ(found.key, key) << name_of(type);
        EXPECT_FALSE(found.records);
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
    EXPECT_THROW((void)element_of_job(text), Error) << text;
  }
}

}  // namespace
}  // namespace gsort
