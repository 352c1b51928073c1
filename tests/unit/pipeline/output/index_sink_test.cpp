#include "pipeline/output/index_sink.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

// Records of a byte and its position.
Bytes records_of(std::size_t count, const Numbering& numbering) {
  Bytes records(count * numbering.record_bytes());
  for (std::size_t i = 0; i < count; ++i) records[i] = static_cast<std::byte>(i % 7);
  number_elements(records, numbering, 0, count);
  return records;
}

TEST(IndexSink, PutsThePositionsAloneHoweverPiecesAreCut) {
  constexpr std::uint64_t kCount = 100'003;  // several batches
  const Numbering numbering{1, 8, false};
  const Bytes records = records_of(kCount, numbering);
  for (const std::uint64_t piece : {std::uint64_t{1'000}, kCount}) {
    test::CollectingSink collected(kCount, 4);
    IndexSink sink(numbering, 4, collected);
    sink.put(0, {});
    for (std::uint64_t at = 0; at < kCount; at += piece) {
      const std::uint64_t count = std::min(piece, kCount - at);
      sink.put(at, ConstByteSpan(records).subspan(at * 9, count * 9));
    }
    EXPECT_EQ(collected.complaint(), "");
    const auto positions = test::keys_in<std::uint32_t>(collected.bytes());
    for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(positions[i], i);
  }
}

// A position that does not fit is another one: the width was chosen for fewer elements.
TEST(IndexSink, PutsNoPositionThatIsNotTheProvenOne) {
  const Numbering numbering{1, 8, false};
  Bytes records(2 * numbering.record_bytes());
  number_elements(records, numbering, std::uint64_t{1} << 32, 2);
  test::CollectingSink collected(2, 4);
  IndexSink sink(numbering, 4, collected);
  const Error error = test::error_of([&] { sink.put(0, records); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_STREQ(error.reason().c_str(), "it is another position than the verified one");
}

TEST(IndexSink, PutsTheElementsAloneWithASeed) {
  constexpr std::uint64_t kCount = 100'003;
  const Numbering numbering{1, 8, false, 0, 3};
  test::CollectingSink collected(kCount, 1);
  IndexSink sink(numbering, 1, collected);
  sink.put(0, records_of(kCount, numbering));
  EXPECT_EQ(collected.complaint(), "");
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(std::to_integer<std::size_t>(collected.bytes()[i]), i % 7);
  }
}

}  // namespace
}  // namespace gsort
