#include "plan/form_memory.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "plan/plan.hpp"

namespace gsort {
namespace {

EncodePlan plan_of(const OutputForm& form, std::uint64_t host_bytes, bool proven) {
  Plan plan;
  plan.job.element.key.type = KeyType::kU32;
  plan.job.output_form = form;
  plan.job.handling.verify_encoding = proven;
  plan.threads = 8;
  plan.host_budget_bytes = host_bytes;
  return plan_encoding(plan);
}

// A proof of what is encoded takes a decompressor beside each compressor, and a buffer for each
// frame; where that is more than there is, fewer are at work.
TEST(FormMemory, HasRoomForTheProofOfWhatIsEncoded) {
  for (const Codec codec : kAllCodecs) {
    const OutputForm form{FileFormat::kBinary, codec, levels_of(codec).most};
    for (const std::uint64_t host : {64 * kMiB, kGiB, 64 * kGiB}) {
      const EncodePlan plain = plan_of(form, host, false);
      const EncodePlan proven = plan_of(form, host, true);
      EXPECT_FALSE(plain.is_proven);
      EXPECT_TRUE(proven.is_proven);
      EXPECT_EQ(proven.frame_elements, plain.frame_elements);
      EXPECT_LE(proven.encoders, plain.encoders);
      const std::uint64_t buffers = 16 * 64 * kKiB;
      if (proven.encoders == plain.encoders) {
        EXPECT_GE(proven.memory_bytes, plain.memory_bytes + buffers + proven.encoders * 512 * kKiB);
      }
    }
  }
  const OutputForm text{FileFormat::kText, Codec::kNone, 0};
  EXPECT_TRUE(plan_of(text, kGiB, true).is_proven);
  EXPECT_FALSE(plan_of({}, kGiB, true).is_proven);
}

}  // namespace
}  // namespace gsort
