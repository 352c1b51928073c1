// sort_records on the card, against std::stable_sort of a copy by the normalised keys. Records
// carry their position where there is room, so each tells where it came from.
#include "gpu/records/device_records.hpp"

#include <random>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "support/stably_sorted.hpp"

namespace gsort::gpu {
namespace {

using Bytes = std::vector<std::byte>;

class DeviceRecords : public GpuTest {};

KeyField text(std::uint32_t offset, std::uint32_t bytes) {
  return {offset, bytes, std::nullopt, false, false};
}
KeyField number(std::uint32_t offset, KeyType type, bool big_endian, bool descending) {
  return {offset, static_cast<std::uint32_t>(bytes_of(type)), type, big_endian, descending};
}

// Every unit in which records are copied, keys of one to five words, keys across words.
std::vector<RecordFormat> formats() {
  return {{1, {text(0, 1)}},
          {2, {number(0, KeyType::kI16, true, true)}},
          {8, {number(0, KeyType::kU32, false, false), number(4, KeyType::kU32, false, true)}},
          {10, {number(2, KeyType::kF64, true, true)}},
          {16, {number(0, KeyType::kU64, false, false)}},
          {21, {text(1, 7), number(12, KeyType::kI32, true, false), text(8, 3)}},
          {48, {text(0, 32), text(40, 5)}},
          {100, {text(0, 10)}},
          {4099, {text(4000, 9), number(1, KeyType::kF32, false, false)}}};
}

Bytes random_records(const RecordFormat& format, std::uint64_t count, unsigned values) {
  std::mt19937_64 random(count + values);
  Bytes records(count * format.bytes);
  for (std::byte& byte : records) byte = static_cast<std::byte>(random() % values);
  return records;
}

using Scratch = DeviceArray<unsigned char>;
constexpr std::size_t kScratchShift = 256 - Scratch::kGuard;  // so that scratch is aligned

void sort_and_compare(const RecordFormat& format, std::uint64_t count, unsigned values,
                      std::size_t misalign) {
  if (is_left_out(count)) return;
  const RecordOrder order(format);
  const Bytes records = random_records(format, count, values);
  const DeviceArray<std::byte> input(records, misalign);
  const DeviceArray<std::byte> output(records.size(), misalign);
  const std::size_t bytes = sort_records_scratch_bytes(count);
  const Scratch scratch(bytes, kScratchShift);
  sort_records(order, input.get(), output.get(), count, {scratch.get(), bytes}, nullptr);
  ASSERT_TRUE(output.values() == test::stably_sorted(records, format))
      << count << " records of " << format.bytes << " bytes, values below " << values;
  ASSERT_TRUE(output.guards_hold() && input.guards_hold() && scratch.guards_hold());
  ASSERT_TRUE(input.values() == records) << "the input changed";
}

TEST_F(DeviceRecords, AreSortedStablyInEveryFormat) {
  for (const RecordFormat& format : formats()) {
    for (const std::uint64_t count : {0U, 1U, 2U, 255U, 256U, 257U, 1'025U, 20'000U}) {
      for (const unsigned values : {1U, 2U, 256U}) {
        sort_and_compare(format, count, values, 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(DeviceRecords, AreSortedWhereverTheyLie) {
  for (const RecordFormat& format : formats()) {
    for (const std::size_t misalign : {1U, 2U, 4U, 8U}) {
      sort_and_compare(format, 3'000, 3, misalign);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DeviceRecords, OfManyMegabytesAreSorted) {
  sort_and_compare({100, {text(0, 10)}}, 1'500'000, 256, 0);
  sort_and_compare({100, {text(0, 10)}}, 1'500'000, 2, 0);
}

TEST_F(DeviceRecords, AreRefusedWithoutRoomOrWhereArraysOverlap) {
  const RecordOrder order({100, {text(0, 10)}});
  const DeviceArray<std::byte> input(100'000);
  const DeviceArray<std::byte> output(100'000);
  const std::size_t bytes = sort_records_scratch_bytes(1'000);
  const Scratch scratch(bytes, kScratchShift);
  const auto refused = [&](std::byte* to, std::uint64_t count, void* memory, std::size_t size) {
    try {
      sort_records(order, input.get(), to, count, {memory, size}, nullptr);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(refused(output.get(), 1'000, scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(output.get(), 1'000, nullptr, bytes));
  EXPECT_TRUE(refused(output.get(), 1'000, scratch.get() + 1, bytes));
  EXPECT_TRUE(refused(nullptr, 1'000, scratch.get(), bytes));
  EXPECT_TRUE(refused(input.get() + 99'900, 1'000, scratch.get(), bytes));
  EXPECT_TRUE(
      refused(reinterpret_cast<std::byte*>(scratch.get()) + 256, 1'000, scratch.get(), bytes));
  auto* const in_input = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(input.get()) + 512) / 256 * 256);
  EXPECT_TRUE(refused(output.get(), 1'000, in_input, bytes));
  EXPECT_TRUE(refused(output.get(), kMostDeviceRecords + 1, scratch.get(), bytes));
  EXPECT_FALSE(refused(nullptr, 0, nullptr, 0));
  EXPECT_FALSE(refused(output.get(), 1'000, scratch.get(), bytes));
}

}  // namespace
}  // namespace gsort::gpu
