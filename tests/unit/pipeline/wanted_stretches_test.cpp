// Tests what a selection notes of elements that cannot be wanted.
#include "pipeline/select/wanted_stretches.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

// Wants nothing, and changes the block, as faulty memory does.
struct ChangesTheBlock {
  std::span<std::uint32_t> block;

  bool may_want(std::uint64_t /*key*/, std::uint64_t /*index*/) {
    for (std::uint32_t& key : block) key ^= 1U;
    return false;
  }
  void add(ConstByteSpan /*records*/, std::uint64_t /*index*/) {}
};

TEST(WantedStretches, WhoseLeastKeyIsGoneAreAnError) {
  Options options = test::options_for(KeyType::kU32);
  options.argsort = true;
  options.top = 1;
  const Job job = make_job(options);
  ASSERT_TRUE(WantedStretches::are_of(job));
  Proof proof(job.element, true);
  WantedStretches stretches(job, proof, nullptr);
  std::vector<std::uint32_t> keys(100);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(7 + 4 * i);
  ChangesTheBlock candidates{keys};
  try {
    stretches.add(std::as_bytes(std::span(keys)), 0, candidates);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  }
}

}  // namespace
}  // namespace gsort
