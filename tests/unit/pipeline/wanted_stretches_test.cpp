// Tests which elements of a selection get their positions, and what the proof learns of the others.
#include "pipeline/select/wanted_stretches.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "pipeline/proof/element_order.hpp"
#include "support/invented.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr std::uint64_t kFirst = 1'000;  // the position of a block's first element

Job job_of(const KeyFormat& key, std::optional<std::uint64_t> input_bytes = {}) {
  Options options = test::options_for(key.type);
  options.key = key;
  options.argsort = true;
  options.top = 1;
  return make_job(options, {}, input_bytes);
}

// Wants keys before `bound`, as ordered numbers, and keeps all records that come.
struct WantsBefore {
  std::uint64_t bound;
  Bytes records = {};

  [[nodiscard]] bool may_want(std::uint64_t key, std::uint64_t /*index*/) const {
    return key < bound;
  }
  void add(ConstByteSpan more, std::uint64_t /*index*/) {
    records.insert(records.end(), more.begin(), more.end());
  }
};

// One key in 1000 is small, and one stretch in twenty has nothing but small ones.
template <class Key>
std::vector<Key> keys_of_stretches(const KeyMap<Key>& map) {
  std::vector<Key> keys(40 * kKeysOfStretch + 100);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool is_small = i % 1'000 == 7 || (i / kKeysOfStretch) % 20 < 2;
    keys[i] = map.to_raw(static_cast<Key>((is_small ? 0 : 5'000) + i % 3'000));
  }
  return keys;
}

// The elements as records of their bytes and their positions.
template <class Key>
Bytes records_of(std::span<const Key> keys, std::uint64_t index, const Numbering& numbering) {
  Bytes records;
  for (const Key& key : keys) {
    const auto bytes = std::as_bytes(std::span(&key, 1));
    Bytes number = test::raw_of(std::vector{index++}, numbering.big_endian);
    if (numbering.index_bytes == 4) {
      const auto zeros = number.begin() + (numbering.big_endian ? 0 : 4);
      number.erase(zeros, zeros + 4);
    }
    records.insert(records.end(), bytes.begin(), bytes.end());
    records.insert(records.end(), number.begin(), number.end());
  }
  return records;
}

template <class Key>
void expect_positions_of_wanted_stretches(const KeyFormat& format,
                                          std::optional<std::uint64_t> input_bytes) {
  const Job job = job_of(format, input_bytes);
  KeyFormat total = format;
  total.float_order = FloatOrder::kTotal;
  const auto map = KeyMap<Key>::of(total);
  const std::vector<Key> keys = keys_of_stretches(map);
  Proof proof(job.element, true);
  WantedStretches stretches(job, proof, nullptr);
  WantsBefore candidates{4'000};
  const ConstByteSpan block = std::as_bytes(std::span(keys));
  EXPECT_EQ(stretches.add_input(block).count, keys.size());
  stretches.add(block, kFirst, candidates);

  const ElementOrder order(job.element);
  Bytes wanted;
  std::uint64_t left = 0;
  std::string least_left(100, '\xff');
  for (std::size_t begin = 0; begin < keys.size(); begin += kKeysOfStretch) {
    const auto stretch =
        std::span(keys).subspan(begin, std::min(kKeysOfStretch, keys.size() - begin));
    const Bytes records = records_of<Key>(stretch, kFirst + begin, job.numbering());
    if (std::ranges::any_of(stretch, [&](Key key) { return map.to_ordered(key) < 4'000; })) {
      wanted.insert(wanted.end(), records.begin(), records.end());
      continue;
    }
    left += stretch.size();
    for (std::size_t at = 0; at < records.size(); at += order.element_bytes()) {
      least_left = std::min(least_left, order.normalised_key(&records[at]));
    }
  }
  EXPECT_TRUE(candidates.records == wanted);
  const ProofSummary seen = proof.summary();
  EXPECT_EQ(seen.left_out.count, left);
  EXPECT_EQ(seen.least_left_out, least_left);
  EXPECT_GT(left, keys.size() / 3);
  EXPECT_GT(keys.size() - left, keys.size() / 3);
  Fingerprint all = seen.left_out;
  all += seen.repeats;
  all += proof.look(wanted);  // as if they came out
  EXPECT_EQ(all, seen.input);
}

// With positions of 8 bytes and of 4.
TEST(WantedStretches, GetPositionsAndOthersAreLeftOut) {
  for (const auto input_bytes :
       {std::optional<std::uint64_t>(), std::optional(std::uint64_t{8000})}) {
    for (std::size_t turn = 0; turn < 4; ++turn) {
      for (const KeyType type : {KeyType::kU32, KeyType::kF32}) {
        expect_positions_of_wanted_stretches<std::uint32_t>(test::formats_of(type)[turn],
                                                            input_bytes);
      }
      for (const KeyType type : {KeyType::kI64, KeyType::kF64}) {
        expect_positions_of_wanted_stretches<std::uint64_t>(test::formats_of(type)[turn],
                                                            input_bytes);
      }
    }
  }
}

TEST(WantedStretches, AreOfKeysOf4And8Bytes) {
  for (const KeyType type : kAllKeyTypes) {
    const std::size_t bytes = bytes_of(type);
    EXPECT_EQ(WantedStretches::are_of(job_of({type})), bytes == 4 || bytes == 8) << name_of(type);
  }
}

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
  const Job job = job_of({KeyType::kU32});
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
