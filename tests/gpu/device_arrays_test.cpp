// What the Python package queues for arrays in device memory, against sorts of a copy on the host.
#include "python/device_arrays.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"

namespace gsort::python {
namespace {

using gpu::DeviceArray;

template <class T>
std::uintptr_t address_of(const DeviceArray<T>& array) {
  return reinterpret_cast<std::uintptr_t>(array.get());
}

template <class Key>
std::vector<Key> random_keys(std::size_t count, Key values) {
  std::mt19937_64 random(count);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random() % values) * static_cast<Key>(0x9e3779b1U);
  return keys;
}

template <class Key>
class DeviceArrays : public gpu::GpuTest {
 protected:
  static KeyFormat format(bool descending, bool big_endian = false) {
    return {sizeof(Key) == 4 ? KeyType::kI32 : KeyType::kF64, big_endian, descending};
  }
  static auto order_of(const KeyFormat& format) {
    return [map = KeyMap<Key>::of(format)](Key a, Key b) {
      return map.to_ordered(a) < map.to_ordered(b);
    };
  }
};
using Widths = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceArrays, Widths);

TYPED_TEST(DeviceArrays, SortEachRowInPlaceAndApart) {
  struct Shape {
    std::size_t rows;
    std::size_t row_keys;
  };
  for (const auto& [rows, row_keys] : {Shape{1, 20'011}, {30, 701}, {2, 9'000}, {0, 5}}) {
    for (const KeyFormat& format : {this->format(false), this->format(true, true)}) {
      if (gpu::are_too_many(rows * row_keys)) continue;
      std::vector<TypeParam> expected = random_keys<TypeParam>(rows * row_keys, 1'000'003);
      const DeviceArray<TypeParam> keys(expected);
      const DeviceArray<TypeParam> sorted(expected.size());
      for (std::size_t row = 0; row < rows; ++row) {
        std::ranges::sort(std::span(expected).subspan(row * row_keys, row_keys),
                          this->order_of(format));
      }
      const DeviceKeys what{address_of(keys), rows, row_keys, format};
      sort_on_device(what, address_of(sorted), 0);
      EXPECT_EQ(sorted.values(), expected);
      sort_on_device(what, address_of(keys), 0);
      EXPECT_EQ(keys.values(), expected);
      EXPECT_TRUE(sorted.guards_hold() && keys.guards_hold());
    }
  }
}

TYPED_TEST(DeviceArrays, GiveTheirIndicesStably) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{5'000}, std::size_t{25'000}}) {
    if (gpu::are_too_many(count)) continue;
    const std::vector<TypeParam> values = random_keys<TypeParam>(count, 97);
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, this->order_of(this->format(false)),
                             [&](std::uint32_t index) { return values[index]; });
    const DeviceArray<TypeParam> keys(values);
    const DeviceArray<std::uint32_t> indices(count);
    argsort_on_device({address_of(keys), 1, count, this->format(false)}, address_of(indices), 0);
    EXPECT_EQ(indices.values(), expected);
    EXPECT_EQ(keys.values(), values);
    EXPECT_TRUE(indices.guards_hold() && keys.guards_hold());
  }
}

class RefusedDeviceArrays : public gpu::GpuTest {};

TEST_F(RefusedDeviceArrays, AreThoseOfShortKeysAndTooManyIndices) {
  EXPECT_THROW(sort_on_device({256, 1, 10, {KeyType::kU16}}, 256, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 1, 10, {KeyType::kU8}}, 256, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 2, 10, {KeyType::kU32}}, 256, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 1, 1ULL << 32, {KeyType::kU32}}, 256, 0), Error);
}

}  // namespace
}  // namespace gsort::python
