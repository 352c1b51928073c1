// Every batch sort of the textbook on the card, against std::sort of each array of a copy taken
// before.
#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/textbook/batch_sorts.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/distributions.hpp"

namespace gsort::textbook {
namespace {

using gpu::DeviceArray;

template <class Key>
class TextbookBatch : public gpu::GpuTest {
 protected:
  static std::vector<Key> keys_of(gpu::Shape shape, std::size_t count, std::uint64_t seed) {
    std::vector<Key> keys;
    for (const std::uint64_t bits : gpu::make_keys<std::uint64_t>(shape, count, seed)) {
      keys.push_back(static_cast<Key>(sizeof(Key) < 8 ? bits >> 32 : bits));
    }
    return keys;
  }

  static void sort_and_compare(const NamedBatchSort<Key>& sort, const std::vector<Key>& keys,
                               std::size_t array_keys, std::size_t misalign = 0) {
    const std::size_t arrays = array_keys == 0 ? 0 : keys.size() / array_keys;
    std::vector<Key> expected = keys;
    for (std::size_t array = 0; array < arrays; ++array) {
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(array * array_keys);
      std::sort(begin, begin + static_cast<std::ptrdiff_t>(array_keys));
    }
    const DeviceArray<Key> in(keys, misalign);
    const DeviceArray<Key> out(keys.size(), 2 * misalign);
    const DeviceArray<Key> scratch(batch_scratch_bytes<Key>(keys.size()) / sizeof(Key));
    sort.launch({in.get(), out.get(), arrays, array_keys, scratch.get(), nullptr});
    ASSERT_TRUE(out.values() == expected) << sort.name << ": " << arrays << " x " << array_keys;
    ASSERT_TRUE(out.guards_hold() && scratch.guards_hold()) << sort.name << ": wrote outside";
    ASSERT_TRUE(in.values() == keys) << sort.name << ": the input changed";
  }
};

using KeyTypes = ::testing::Types<std::int32_t, std::uint64_t, std::uint8_t>;
TYPED_TEST_SUITE(TextbookBatch, KeyTypes);

TYPED_TEST(TextbookBatch, SortsArraysOfEverySize) {
  for (const NamedBatchSort<TypeParam>& sort : all_batch_sorts<TypeParam>()) {
    for (const std::size_t array_keys :
         {0U,   1U,   2U,   3U,   5U,    31U,   32U,   33U,   63U,   64U,   65U,  100U,
          511U, 512U, 513U, 700U, 1023U, 1024U, 1025U, 2047U, 2048U, 2049U, 5000U}) {
      if (array_keys > sort.most_keys) continue;
      for (const std::size_t arrays : {0U, 1U, 2U, 17U, 70U}) {
        const auto keys = this->keys_of(gpu::Shape::kUniform, arrays * array_keys, array_keys);
        this->sort_and_compare(sort, keys, array_keys, arrays % 3);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(TextbookBatch, SortsLongArrays) {
  for (const NamedBatchSort<TypeParam>& sort : all_batch_sorts<TypeParam>()) {
    for (const std::size_t array_keys : {16384U, 65536U, 65537U, 200001U}) {
      if (array_keys > sort.most_keys) continue;
      const auto keys = this->keys_of(gpu::Shape::kUniform, 3 * array_keys, array_keys);
      this->sort_and_compare(sort, keys, array_keys);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(TextbookBatch, SortsEveryShape) {
  for (const NamedBatchSort<TypeParam>& sort : all_batch_sorts<TypeParam>()) {
    for (const gpu::NamedShape& named : gpu::kShapes) {
      SCOPED_TRACE(std::string(named.name));
      for (const std::size_t array_keys : {37U, 1000U, 9001U}) {
        if (array_keys > sort.most_keys) continue;
        this->sort_and_compare(sort, this->keys_of(named.shape, 11 * array_keys, 1), array_keys);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Several blocks of each kernel, few enough for the slow checkers of compute-sanitizer.
TYPED_TEST(TextbookBatch, SortsAFewArrays) {
  for (const NamedBatchSort<TypeParam>& sort : all_batch_sorts<TypeParam>()) {
    for (const std::size_t array_keys : {100U, 1000U, 2500U}) {
      if (array_keys > sort.most_keys) continue;
      const auto keys = this->keys_of(gpu::Shape::kUniform, 3 * array_keys, array_keys);
      this->sort_and_compare(sort, keys, array_keys);
    }
  }
}

TYPED_TEST(TextbookBatch, RefusesArraysTooLongForSharedMemory) {
  const DeviceArray<TypeParam> keys(2000);
  EXPECT_THROW(
      launch_batch_sort_shared<TypeParam>({keys.get(), keys.get(), 1, 1025, nullptr, nullptr}),
      Error);
}

}  // namespace
}  // namespace gsort::textbook
