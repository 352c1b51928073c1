#include "report/words.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace gsort {
namespace {

TEST(EngineWords, NameEveryDevice) {
  Plan plan;
  plan.devices = {{1, "one GPU", kGiB}, {0, "another", kGiB}, {0, "another", kGiB}};
  plan.engine = EngineKind::kCuda;
  plan.engine_reason = "as asked";
  EXPECT_EQ(engine_words(plan),
            "cuda, device 1 (one GPU), device 0 (another), device 0 (another): as asked");
}

TEST(EngineWords, CountThreads) {
  Plan plan;
  plan.engine_reason = "as asked";
  plan.threads = 1;
  EXPECT_EQ(engine_words(plan), "cpu, 1 thread: as asked");
  plan.threads = 2;
  EXPECT_EQ(engine_words(plan), "cpu, 2 threads: as asked");
}

TEST(KeyWords, AlwaysShowTheType) {
  Job job;
  job.element.key = {KeyType::kU64, true, true};
  job.type_source = TypeSource::kOption;
  EXPECT_EQ(key_words(job), "u64, big endian, descending (type from -t)");
}

}  // namespace
}  // namespace gsort
