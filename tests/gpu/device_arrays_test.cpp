// The calls of the Python package for arrays in device memory, against sorts of a copy on the host.
#include "python/device_arrays.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "gpu/cuda/cuda_resources.hpp"

namespace gsort::python {
namespace {

using gpu::DeviceArray;

template <class T>
std::uintptr_t address_of(const DeviceArray<T>& array) {
  return reinterpret_cast<std::uintptr_t>(array.get());
}

template <class Key>
std::vector<Key> random_keys(std::size_t count, std::uint64_t values) {
  std::mt19937_64 random(count);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random() % values * 0x9e3779b1U);
  return keys;
}

// The same, but half of them have the bits of -0, +0 or NaN.
template <class Key>
std::vector<Key> keys_of_classes(std::size_t count) {
  constexpr Key kSign = KeyMap<Key>::kSignBit;
  constexpr Key kSpecial[] = {0, kSign, static_cast<Key>(~Key{0}), static_cast<Key>(kSign - 1)};
  std::vector<Key> keys = random_keys<Key>(count, 97);
  for (std::size_t i = 0; i < count; i += 2) keys[i] = kSpecial[i / 2 * 7 % 13 % 4];
  return keys;
}

template <class Key>
class DeviceArrays : public gpu::GpuTest {
 protected:
  static KeyFormat format(bool descending, bool big_endian = false) {
    const KeyType type = sizeof(Key) == 1   ? KeyType::kI8
                         : sizeof(Key) == 2 ? KeyType::kF16
                         : sizeof(Key) == 4 ? KeyType::kI32
                                            : KeyType::kF64;
    return {type, big_endian, descending};
  }
  static auto order_of(const KeyFormat& format, bool by_class = false) {
    return [map = by_class ? KeyMap<Key>::classes_of(format) : KeyMap<Key>::of(format)](
               Key a, Key b) { return map.to_ordered(a) < map.to_ordered(b); };
  }
};
using Widths = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceArrays, Widths);

TYPED_TEST(DeviceArrays, SortEachRowInPlaceAndApart) {
  struct Shape {
    std::size_t rows;
    std::size_t row_keys;
  };
  for (const auto& [rows, row_keys] : {Shape{1, 20'011}, {30, 701}, {2, 9'000}, {0, 5}}) {
    for (const KeyFormat& format : {this->format(false), this->format(true, true)}) {
      if (gpu::is_left_out(rows * row_keys)) continue;
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
       {std::size_t{25'000}, std::size_t{5'000}, std::size_t{1}, std::size_t{0}}) {
    if (gpu::is_left_out(count)) continue;
    const std::vector<TypeParam> values = random_keys<TypeParam>(count, 97);
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, this->order_of(this->format(false), true),
                             [&](std::uint32_t index) { return values[index]; });
    const DeviceArray<TypeParam> keys(values);
    const DeviceArray<std::uint32_t> indices(count);
    argsort_on_device({address_of(keys), 1, count, this->format(false)}, {address_of(indices), 4},
                      0);
    EXPECT_EQ(indices.values(), expected);
    EXPECT_EQ(keys.values(), values);
    EXPECT_TRUE(indices.guards_hold() && keys.guards_hold());
  }
}

// Rows of one length, and the same rows by offsets.
struct Rows {
  std::uint64_t rows = 5;
  std::uint64_t row_keys = 1'201;
  std::vector<std::uint64_t> offsets{0, 1'201, 2'402, 3'603, 4'804, 6'005};

  [[nodiscard]] std::uint64_t count() const { return rows * row_keys; }
  [[nodiscard]] DeviceKeys even(std::uintptr_t address, const KeyFormat& format) const {
    return {address, rows, row_keys, format};
  }
  [[nodiscard]] DeviceKeys by_offsets(std::uintptr_t address, const KeyFormat& format,
                                      const DeviceArray<std::uint64_t>& on_device) const {
    return {address, rows, count(), format, address_of(on_device)};
  }
  // The numbers of keys, each row's in its order.
  template <class Key, class Less>
  [[nodiscard]] std::vector<std::uint64_t> order(const std::vector<Key>& keys,
                                                 const Less& less) const {
    std::vector<std::uint64_t> numbers(count());
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::ranges::stable_sort(std::span(numbers).subspan(row * row_keys, row_keys), less,
                               [&](std::uint64_t number) { return keys[number]; });
    }
    return numbers;
  }
};

TYPED_TEST(DeviceArrays, SortRowsByOffsets) {
  const Rows rows;
  const KeyFormat format = this->format(true);
  const std::vector<TypeParam> values = random_keys<TypeParam>(rows.count(), 97);
  const DeviceArray<std::uint64_t> offsets(rows.offsets);
  const DeviceArray<TypeParam> keys(values);
  std::vector<TypeParam> expected;
  for (const std::uint64_t number : rows.order(values, this->order_of(format))) {
    expected.push_back(values[number]);
  }
  sort_on_device(rows.by_offsets(address_of(keys), format, offsets), address_of(keys), 0);
  EXPECT_EQ(keys.values(), expected);
}

TYPED_TEST(DeviceArrays, GiveIndicesOfEachRow) {
  const Rows rows;
  const KeyFormat format = this->format(true, true);
  const std::vector<TypeParam> values = random_keys<TypeParam>(rows.count(), 97);
  const DeviceArray<std::uint64_t> offsets(rows.offsets);
  const DeviceArray<TypeParam> keys(values);
  const DeviceArray<std::uint64_t> indices(rows.count());
  std::vector<std::uint64_t> expected = rows.order(values, this->order_of(format, true));
  for (std::uint64_t& number : expected) number %= rows.row_keys;
  for (const DeviceKeys& what :
       {rows.even(address_of(keys), format), rows.by_offsets(address_of(keys), format, offsets)}) {
    argsort_on_device(what, {address_of(indices), 8}, 0);
    EXPECT_EQ(indices.values(), expected);
  }
  EXPECT_TRUE(indices.guards_hold());
}

TYPED_TEST(DeviceArrays, SortPairsOfEachRow) {
  const Rows rows;
  const KeyFormat format = this->format(false);
  const std::vector<TypeParam> values = keys_of_classes<TypeParam>(rows.count());
  std::vector<std::uint32_t> positions(rows.count());
  std::iota(positions.begin(), positions.end(), 0U);
  const DeviceArray<std::uint64_t> offsets(rows.offsets);
  const DeviceArray<TypeParam> keys(values);
  const DeviceArray<std::uint32_t> data(positions);
  const std::vector<std::uint64_t> expected = rows.order(values, this->order_of(format, true));
  for (const DeviceKeys& what :
       {rows.even(address_of(keys), format), rows.by_offsets(address_of(keys), format, offsets)}) {
    const DeviceArray<TypeParam> sorted(rows.count());
    const DeviceArray<std::uint32_t> moved(rows.count());
    sort_pairs_on_device(what, address_of(sorted), {address_of(data), 4}, address_of(moved), 0);
    EXPECT_EQ(moved.values(), std::vector<std::uint32_t>(expected.begin(), expected.end()));
    EXPECT_TRUE(std::ranges::equal(sorted.values(), expected, {}, {},
                                   [&](std::uint64_t number) { return values[number]; }));
  }
}

TYPED_TEST(DeviceArrays, SortPairsOfOneRowInPlace) {
  const Rows one{1, 9'001, {}};
  const KeyFormat format = this->format(true);
  const std::vector<TypeParam> values = keys_of_classes<TypeParam>(one.count());
  std::vector<std::uint64_t> positions(one.count());
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  const DeviceArray<TypeParam> keys(values);
  const DeviceArray<std::uint64_t> data(positions);
  sort_pairs_on_device(one.even(address_of(keys), format), address_of(keys), {address_of(data), 8},
                       address_of(data), 0);
  const auto expected = one.order(values, this->order_of(format, true));
  EXPECT_EQ(data.values(), expected);
  EXPECT_TRUE(std::ranges::equal(keys.values(), expected, {}, {},
                                 [&](std::uint64_t number) { return values[number]; }));
}

TYPED_TEST(DeviceArrays, ResultsHaveMemoryOfTheirOwn) {
  const DeviceArray<TypeParam> keys(5);
  const DeviceMemory memory(8'000, address_of(keys));
  const DeviceMemory none(0, address_of(keys));
  EXPECT_NE(memory.address(), none.address());
  EXPECT_EQ(memory.device(), 0);
  order_streams(address_of(keys), 0, 0);
  std::vector<TypeParam> values = random_keys<TypeParam>(1'000, 97);
  const DeviceArray<TypeParam> source(values);
  sort_on_device({address_of(source), 1, 1'000, this->format(false)}, memory.address(), 0);
  std::ranges::sort(values, this->order_of(this->format(false)));
  std::vector<TypeParam> sorted(1'000);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python's form of it
  gpu::check_cuda(cudaMemcpy(sorted.data(), reinterpret_cast<const void*>(memory.address()),
                             1'000 * sizeof(TypeParam), cudaMemcpyDeviceToHost),
                  gpu::CudaCall::kCopy, "copying from the GPU");
  EXPECT_EQ(sorted, values);
}

class RefusedDeviceArrays : public gpu::GpuTest {};

TEST_F(RefusedDeviceArrays, AreThoseOfLongKeysAndTooManyIndices) {
  EXPECT_THROW(sort_on_device({256, 1, 10, {KeyType::kU128}}, 256, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 1, 10, {KeyType::kI128}}, {256, 4}, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 1, 10, {KeyType::kU32}}, {256, 2}, 0), Error);
  EXPECT_THROW(argsort_on_device({256, 1, 1ULL << 32, {KeyType::kU32}}, {256, 4}, 0), Error);
  EXPECT_THROW(sort_pairs_on_device({256, 1, 10, {KeyType::kU32}}, 256, {256, 16}, 256, 0), Error);
}

// The second device has an array.
class TwoDevices : public gpu::GpuTest {
 protected:
  void SetUp() override {
    gpu::GpuTest::SetUp();
    int devices = 0;
    if (IsSkipped() || cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
      GTEST_SKIP() << "there is no second GPU";
    }
    gpu::use_device(1);
    other_.emplace(std::vector<std::uint32_t>{3, 1, 2});
    gpu::use_device(0);
  }
  void TearDown() override {
    if (!other_) return;
    gpu::use_device(1);
    other_.reset();
    gpu::use_device(0);
  }

  static constexpr KeyFormat kFormat{KeyType::kU32};
  std::optional<DeviceArray<std::uint32_t>> other_;
};

TEST_F(TwoDevices, HaveNoArraysOfOneCall) {
  const DeviceArray<std::uint32_t> array(3);
  const std::uintptr_t own = address_of(array);
  const std::uintptr_t other = address_of(*other_);
  const auto expect_refused = [](const std::string& name, const auto& call) {
    try {
      call();
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.reason(), name + " on device 1, keys on device 0");
    }
  };
  const DeviceKeys keys{own, 1, 3, kFormat};
  const DeviceKeys segments{own, 1, 3, kFormat, other};
  expect_refused("output", [&] { sort_on_device(keys, other, 0); });
  expect_refused("offsets", [&] { sort_on_device(segments, own, 0); });
  expect_refused("output", [&] { argsort_on_device(keys, {other, 4}, 0); });
  expect_refused("offsets", [&] { argsort_on_device(segments, {own, 4}, 0); });
  expect_refused("output", [&] { sort_pairs_on_device(keys, other, {own, 4}, own, 0); });
  expect_refused("values", [&] { sort_pairs_on_device(keys, own, {other, 4}, own, 0); });
  expect_refused("output of values", [&] { sort_pairs_on_device(keys, own, {own, 4}, other, 0); });
  expect_refused("offsets", [&] { sort_pairs_on_device(segments, own, {own, 4}, own, 0); });
}

TEST_F(TwoDevices, StayWhatIsCurrentInEachThread) {
  const std::uintptr_t other = address_of(*other_);
  std::thread([&] {
    sort_on_device({other, 1, 3, kFormat}, other, 0);
    EXPECT_EQ(gpu::current_ordinal(), 0);
  }).join();
  gpu::use_device(1);
  EXPECT_EQ(other_->values(), (std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace gsort::python
