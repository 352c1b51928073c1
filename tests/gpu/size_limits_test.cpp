// More elements than a call takes: the calls refuse them with nothing queued, and the sizes of
// scratch memory are refused as well, as they could wrap around to a small number. No GPU is asked.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/device_records.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {
namespace {

// The error of a call that refuses its arguments; "" if it does not.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kUsage ? error.what() : "";
  }
  return "";
}

constexpr std::uint64_t kMost = kMaxSortedKeys;
constexpr std::array kTooMany = {kMost + 1, std::uint64_t{1} << 61, ~std::uint64_t{0}};

void expect_refusal(const std::string& elements, const std::function<void()>& call) {
  const std::string said = refusal(call);
  EXPECT_NE(said.find("more than 34,359,738,368 " + elements), std::string::npos) << said;
}

template <class Key>
void expect_sizes_refused(std::uint64_t count) {
  expect_refusal("keys", [&] { (void)sort_keys_scratch_bytes<Key>(count); });
  expect_refusal("keys", [&] { (void)merge_arrays_scratch_bytes<Key>(count); });
  expect_refusal("keys", [&] { (void)merge_slices_scratch_bytes<Key>(count, 7); });
  expect_refusal("keys", [&] { (void)sort_batch_scratch_bytes<Key>(1, count); });
  expect_refusal("keys", [&] { (void)sort_batch_scratch_bytes<Key>(count, 1); });
  expect_refusal("keys", [&] { (void)sort_segmented_batch_scratch_bytes<Key>(3, count, 5); });
  expect_refusal("arrays", [&] { (void)sort_segmented_batch_scratch_bytes<Key>(count, 3, 5); });
  expect_refusal("pairs", [&] { (void)sort_pairs_scratch_bytes<Key, std::uint32_t>(count); });
  expect_refusal("pairs",
                 [&] { (void)merge_pair_arrays_scratch_bytes<Key, std::uint32_t>(count); });
  expect_refusal("pairs",
                 [&] { (void)merge_pair_slices_scratch_bytes<Key, std::uint32_t>(count, 7); });
}

TEST(SizeLimits, SizesOfScratchMemoryAreRefusedBeyondWhatCallsTake) {
  for (const std::uint64_t count : kTooMany) {
    SCOPED_TRACE(count);
    expect_sizes_refused<std::uint32_t>(count);
    expect_sizes_refused<std::uint64_t>(count);
    EXPECT_NE(refusal([&] { (void)sort_records_scratch_bytes(count); }), "");
  }
}

TEST(SizeLimits, SizesOfScratchMemoryAreKnownUpToThem) {
  EXPECT_GE(sort_keys_scratch_bytes<std::uint64_t>(kMost), kMost * sizeof(std::uint64_t));
  EXPECT_GT(merge_arrays_scratch_bytes<std::uint32_t>(kMost), 0U);
  EXPECT_GE((sort_pairs_scratch_bytes<std::uint32_t, std::uint64_t>(kMost)),
            kMost * (sizeof(std::uint32_t) + sizeof(std::uint64_t)));
  EXPECT_GE(sort_records_scratch_bytes(kMostDeviceRecords), kMostDeviceRecords * 24);
}

TEST(SizeLimits, CallsRefuseWhatTheyDoNotTake) {
  std::vector<std::uint32_t> some(64);
  std::uint32_t* const keys = some.data();
  const Pairs<std::uint32_t, std::uint32_t> pairs{keys, keys + 32};
  const std::vector<std::uint64_t> offsets(4);
  const RecordOrder order({8, {{0, 4, std::nullopt, false, false}}});
  for (const std::uint64_t count : kTooMany) {
    SCOPED_TRACE(count);
    const std::array<std::uint64_t, 3> slices{1, count, count};
    expect_refusal("keys", [&] {
      sort_keys<std::uint32_t>(
          {.input = keys, .output = keys, .count = count, .scratch = {keys, 64}});
    });
    expect_refusal("keys", [&] {
      merge_arrays<std::uint32_t>({.a = keys,
                                   .a_count = count,
                                   .b = keys,
                                   .b_count = count,
                                   .output = keys,
                                   .scratch = {keys, 64}});
    });
    expect_refusal("keys", [&] {
      merge_slices<std::uint32_t>({.input = keys,
                                   .slice_counts = slices.data(),
                                   .slice_count = 3,
                                   .output = keys,
                                   .scratch = {keys, 64}});
    });
    expect_refusal("keys", [&] {
      sort_batch<std::uint32_t>({.input = keys,
                                 .output = keys,
                                 .array_count = count,
                                 .array_keys = 3,
                                 .scratch = {keys, 64}});
    });
    expect_refusal("keys", [&] {
      sort_segmented_batch<std::uint32_t>({.input = keys,
                                           .output = keys,
                                           .offsets = offsets.data(),
                                           .array_count = 3,
                                           .count = count,
                                           .longest = 1,
                                           .scratch = {keys, 64}});
    });
    expect_refusal("arrays", [&] {
      sort_segmented_batch<std::uint32_t>({.input = keys,
                                           .output = keys,
                                           .offsets = offsets.data(),
                                           .array_count = count,
                                           .count = 3,
                                           .longest = 1,
                                           .scratch = {keys, 64}});
    });
    expect_refusal("pairs", [&] {
      sort_pairs<std::uint32_t, std::uint32_t>(
          {.input = pairs, .output = pairs, .count = count, .scratch = {keys, 64}});
    });
    expect_refusal("pairs", [&] {
      merge_pair_arrays<std::uint32_t, std::uint32_t>({.a = pairs,
                                                       .a_count = count,
                                                       .b = pairs,
                                                       .b_count = 1,
                                                       .output = pairs,
                                                       .scratch = {keys, 64}});
    });
    expect_refusal("pairs", [&] {
      merge_pair_slices<std::uint32_t, std::uint32_t>({.input = pairs,
                                                       .slice_counts = slices.data(),
                                                       .slice_count = 3,
                                                       .output = pairs,
                                                       .scratch = {keys, 64}});
    });
    const auto* const records = reinterpret_cast<const std::byte*>(keys);
    auto* const sorted = reinterpret_cast<std::byte*>(keys + 32);
    EXPECT_NE(refusal([&] {
                sort_records(order, records, sorted, count, {keys, 64}, nullptr);
              }).find("records are more than the 4294967295 of one sort"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace gsort::gpu
