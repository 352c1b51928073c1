// The textbook's kernels past 2^31 and 2^32 elements, of one byte each so that memory allows it.
// The inputs hold known numbers of each key, so the expected output is known without sorting
// anything.
#include <algorithm>
#include <array>
#include <vector>

#include "device_memory.hpp"
#include "gpu/textbook/batch_sorts.hpp"
#include "gpu/textbook/merges.hpp"

namespace gsort::textbook {
namespace {

using gpu::DeviceArray;
using Bytes = std::vector<std::uint8_t>;

class TextbookLarge : public gpu::GpuTest {};

constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31;

// Where each key's stretch begins in `count` sorted keys: the keys 0 .. 255 about equally often.
std::uint64_t begin_of(unsigned key, std::uint64_t count) {
  return (count * key + 255) / 256;
}

Bytes sorted_bytes(std::uint64_t count) {
  Bytes bytes(count);
  for (unsigned key = 0; key < 256; ++key) {
    std::fill(bytes.data() + begin_of(key, count), bytes.data() + begin_of(key + 1, count),
              static_cast<std::uint8_t>(key));
  }
  return bytes;
}

void expect_merged(const Bytes& out, std::uint64_t a_count, std::uint64_t b_count,
                   const char* name) {
  for (unsigned key = 0; key < 256; ++key) {
    const std::uint64_t begin = begin_of(key, a_count) + begin_of(key, b_count);
    const std::uint64_t end = begin_of(key + 1, a_count) + begin_of(key + 1, b_count);
    ASSERT_TRUE(std::all_of(out.data() + begin, out.data() + end,
                            [&](std::uint8_t byte) { return byte == key; }))
        << name << ": not all of [" << begin << ", " << end << ") are " << key;
  }
}

TEST_F(TextbookLarge, MergesPastTwoToThe32) {
  constexpr std::array<std::array<std::uint64_t, 2>, 3> kCounts = {
      {{kTwo31 + 1, kTwo31 + 2}, {kTwo31 - 1, 0}, {5, kTwo31 + 1}}};
  for (const auto& [a_count, b_count] : kCounts) {
    const DeviceArray<std::uint8_t> a(sorted_bytes(a_count));
    const DeviceArray<std::uint8_t> b(sorted_bytes(b_count));
    const DeviceArray<std::uint64_t> scratch(merge_scratch_bytes(a_count, b_count) / 8);
    for (const NamedMerge<std::uint8_t>& merge : all_merges<std::uint8_t>()) {
      const DeviceArray<std::uint8_t> out(a_count + b_count);
      merge.launch({{a.get(), a_count, b.get(), b_count}, out.get(), scratch.get(), nullptr});
      expect_merged(out.values(), a_count, b_count, merge.name);
      if (HasFatalFailure()) return;
    }
  }
}

// Arrays that hold each byte equally often, in an order that looks random.
TEST_F(TextbookLarge, SortsBatchesPastTwoToThe32) {
  constexpr std::uint64_t kArrayKeys = 1024;
  constexpr std::uint64_t kArrays = (std::uint64_t{1} << 22) + 1;
  Bytes keys(kArrays * kArrayKeys);
  for (std::uint64_t i = 0; i < kArrayKeys; ++i) keys[i] = static_cast<std::uint8_t>(i * 167);
  for (std::uint64_t begin = kArrayKeys; begin < keys.size(); begin += kArrayKeys) {
    std::copy_n(keys.data(), kArrayKeys, keys.data() + begin);
  }
  Bytes expected(kArrayKeys);
  for (std::uint64_t i = 0; i < kArrayKeys; ++i) expected[i] = static_cast<std::uint8_t>(i / 4);
  const DeviceArray<std::uint8_t> in(keys);
  const DeviceArray<std::uint8_t> scratch(keys.size());
  for (const NamedBatchSort<std::uint8_t>& sort : all_batch_sorts<std::uint8_t>()) {
    const DeviceArray<std::uint8_t> out(keys.size());
    sort.launch({in.get(), out.get(), kArrays, kArrayKeys, scratch.get(), nullptr});
    const Bytes sorted = out.values();
    for (std::uint64_t begin = 0; begin < sorted.size(); begin += kArrayKeys) {
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), sorted.data() + begin))
          << sort.name << ", array " << begin / kArrayKeys;
    }
  }
}

}  // namespace
}  // namespace gsort::textbook
