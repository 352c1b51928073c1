// The textbook's kernels past 2^31 and 2^32 elements, of one byte each so that memory allows it.
// The inputs hold known numbers of each key, so the expected output is known without sorting
// anything.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/merges.hpp"
#include "gpu/device_memory.hpp"

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

// merge(sorted_bytes(a_count), sorted_bytes(b_count)).
Bytes merged_bytes(std::uint64_t a_count, std::uint64_t b_count) {
  Bytes bytes(a_count + b_count);
  for (unsigned key = 0; key < 256; ++key) {
    std::fill(bytes.data() + begin_of(key, a_count) + begin_of(key, b_count),
              bytes.data() + begin_of(key + 1, a_count) + begin_of(key + 1, b_count),
              static_cast<std::uint8_t>(key));
  }
  return bytes;
}

// As DeviceArray::values, into memory that is touched already.
void copy_out(const DeviceArray<std::uint8_t>& array, Bytes& to) {
  gpu::check_cuda(cudaMemcpy(to.data(), array.get(), to.size(), cudaMemcpyDeviceToHost),
                  gpu::CudaCall::kCopy, "copying from the GPU");
}

TEST_F(TextbookLarge, MergesPastTwoToThe32) {
  constexpr std::array<std::array<std::uint64_t, 2>, 2> kCounts = {
      {{kTwo31 + 1, kTwo31 + 2}, {5, kTwo31 - 1}}};
  for (const auto& [a_count, b_count] : kCounts) {
    const DeviceArray<std::uint8_t> a(sorted_bytes(a_count));
    const DeviceArray<std::uint8_t> b(sorted_bytes(b_count));
    const DeviceArray<std::uint64_t> scratch(merge_scratch_bytes(a_count, b_count) / 8);
    const Bytes expected = merged_bytes(a_count, b_count);
    Bytes merged(expected.size());
    for (const NamedMerge<std::uint8_t>& merge : all_merges<std::uint8_t>()) {
      const DeviceArray<std::uint8_t> out(expected.size());
      merge.launch({{a.get(), a_count, b.get(), b_count}, out.get(), scratch.get(), nullptr});
      copy_out(out, merged);
      ASSERT_EQ(std::memcmp(merged.data(), expected.data(), expected.size()), 0) << merge.name;
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
  Bytes sorted(keys.size());
  for (const NamedBatchSort<std::uint8_t>& sort : all_batch_sorts<std::uint8_t>()) {
    const DeviceArray<std::uint8_t> out(keys.size());
    sort.launch({in.get(), out.get(), kArrays, kArrayKeys, scratch.get(), nullptr});
    copy_out(out, sorted);
    for (std::uint64_t begin = 0; begin < sorted.size(); begin += kArrayKeys) {
      ASSERT_EQ(std::memcmp(sorted.data() + begin, expected.data(), kArrayKeys), 0)
          << sort.name << ", array " << begin / kArrayKeys;
    }
  }
}

}  // namespace
}  // namespace gsort::textbook
