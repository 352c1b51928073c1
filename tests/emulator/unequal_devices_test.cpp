// Sorts of host memory on emulated devices that are not alike: a slow one waits before each copy
// until the others have done all that they can, so that shares are known by counting, whatever the
// machine's load. Results are those of std::stable_sort.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/shares/host_segments.hpp"
#include "gpu/shares/host_shares.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

using Key = std::uint32_t;
using Keys = std::span<const Key>;

constexpr std::uint64_t kChunkKeys = 512;
constexpr std::uint64_t kPieceKeys = kChunkKeys / 2;
constexpr std::uint64_t kChunks = 24;
constexpr std::uint64_t kCount = kChunks * kChunkKeys;  // eight chunks for each of three devices
constexpr std::size_t kDevices = 3;
constexpr std::size_t kSlow = 1;

// The keys that each device has copied from or to an array of the host, in one phase.
class Copied {
 public:
  // The slow device waits until the others have copied `others_first` keys.
  Copied(Keys array, std::uint64_t others_first) : array_(array), others_first_(others_first) {}

  void add(std::size_t device, const void* host, std::size_t bytes) {
    const auto* const at = static_cast<const Key*>(host);
    if (at < array_.data() || at >= array_.data() + array_.size()) return;
    std::unique_lock lock(mutex_);
    if (device == kSlow) {
      const auto enough = [&] { return keys_[0] + keys_[2] >= others_first_; };
      EXPECT_TRUE(more_.wait_for(lock, std::chrono::minutes(2), enough));
    }
    keys_.at(device) += bytes / sizeof(Key);
    more_.notify_all();
  }
  [[nodiscard]] std::uint64_t by(std::size_t device) const { return keys_.at(device); }

 private:
  Keys array_;
  std::uint64_t others_first_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::array<std::uint64_t, kDevices> keys_{};
};

using DeviceBytes = std::array<std::size_t, kDevices>;

// Shares of the memory that a device needs if all are equally fast.
DeviceBytes shares_of_bytes(const std::array<double, kDevices>& shares) {
  const auto share = static_cast<double>(
      gpu::sort_host_pairs_scratch_bytes<Key, Key>(kCount, kDevices, kChunkKeys));
  DeviceBytes bytes{};
  std::ranges::transform(shares, bytes.begin(),
                         [&](double part) { return static_cast<std::size_t>(share * part); });
  return bytes;
}

// Scratch memory on each device.
class Memory {
 public:
  explicit Memory(const DeviceBytes& all) {
    for (std::size_t device = 0; device < kDevices; ++device) {
      gpu::use_device(static_cast<int>(device));
      memory_.emplace_back(all.at(device));
      devices_.push_back({static_cast<int>(device), {memory_.back().as<>(), all.at(device)}});
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (std::size_t device = kDevices; device-- > 0; memory_.pop_back()) {
      gpu::use_device(static_cast<int>(device));
    }
  }
  [[nodiscard]] std::span<const gpu::SharingDevice> devices() const { return devices_; }

 private:
  std::vector<gpu::DeviceMemory> memory_;
  std::vector<gpu::SharingDevice> devices_;
};

// Keys with ties in all chunks, and what a sort makes of them.
struct Pairs {
  std::vector<Key> keys = std::vector<Key>(kCount);
  std::vector<Key> sorted = std::vector<Key>(kCount);
  std::vector<Key> numbers = std::vector<Key>(kCount);

  Pairs() {
    for (std::size_t i = 0; i < kCount; ++i) keys[i] = static_cast<Key>(i * 2'654'435'761U) >> 22U;
  }
  void expect_sorted() const {
    std::vector<Key> wanted(kCount);
    std::iota(wanted.begin(), wanted.end(), 0U);
    std::ranges::stable_sort(wanted, {}, [&](Key number) { return keys[number]; });
    EXPECT_TRUE(numbers == wanted);
    EXPECT_TRUE(std::ranges::equal(sorted, wanted, {}, {}, [&](Key i) { return keys[i]; }));
  }
};

void sort_watched(Pairs& pairs, const Memory& memory, Copied& in, Copied& out) {
  std::vector<Key> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), 0U);
  emulator::set_copy_hook([&](int device, void* to, const void* from, std::size_t bytes) {
    in.add(static_cast<std::size_t>(device), from, bytes);
    out.add(static_cast<std::size_t>(device), to, bytes);
  });
  gpu::sort_host_pairs<Key, Key>({.input = {pairs.keys.data(), numbers.data()},
                                  .output = {pairs.sorted.data(), pairs.numbers.data()},
                                  .count = kCount,
                                  .least_chunk_keys = kChunkKeys},
                                 memory.devices());
  emulator::set_copy_hook({});
}

TEST(UnequalDevices, LeaveMostOfTheWorkToTheFastOnes) {
  Pairs pairs;
  const Memory memory(shares_of_bytes({4, 4, 4}));
  Copied in(pairs.keys, kCount - kChunkKeys);
  Copied out(pairs.sorted, kCount - kPieceKeys);
  sort_watched(pairs, memory, in, out);
  pairs.expect_sorted();
  EXPECT_LE(in.by(kSlow), kChunkKeys);
  EXPECT_LE(out.by(kSlow), kPieceKeys);
  EXPECT_EQ(in.by(0) + in.by(1) + in.by(2), kCount);
  EXPECT_EQ(out.by(0) + out.by(1) + out.by(2), kCount);
}

// A fast device with room for nearly all, and one with hardly any.
TEST(UnequalDevices, TakeNoMoreThanTheyHaveRoomFor) {
  Pairs pairs;
  const Memory memory(shares_of_bytes({1.5, 4, 0.5}));
  Copied in(pairs.keys, 12 * kChunkKeys);
  Copied out(pairs.sorted, kCount - kPieceKeys);
  sort_watched(pairs, memory, in, out);
  pairs.expect_sorted();
  EXPECT_GE(in.by(0), 11 * kChunkKeys);
  EXPECT_LE(in.by(0), 12 * kChunkKeys);
  EXPECT_LE(in.by(2), 4 * kChunkKeys);
  EXPECT_GT(in.by(2), 0U);
  EXPECT_LE(out.by(kSlow), kPieceKeys);
  EXPECT_EQ(in.by(0) + in.by(1) + in.by(2), kCount);
}

TEST(UnequalDevices, MayHaveNoMemoryIfOthersHaveEnough) {
  Pairs pairs;
  const Memory memory(shares_of_bytes({1.5, 0, 1.5}));
  Copied in(pairs.keys, kCount);
  Copied out(pairs.sorted, kCount);
  sort_watched(pairs, memory, in, out);
  pairs.expect_sorted();
  EXPECT_EQ(in.by(kSlow) + out.by(kSlow), 0U);
}

TEST(UnequalDevices, AreRefusedWithTooLittleMemoryInAll) {
  Pairs pairs;
  const Memory memory(shares_of_bytes({1, 1, 0.5}));
  const Error error = test::error_of([&] {
    gpu::sort_host_pairs<Key, Key>({.input = {pairs.keys.data(), nullptr},
                                    .output = {nullptr, pairs.numbers.data()},
                                    .count = kCount,
                                    .least_chunk_keys = kChunkKeys,
                                    .takes_numbers = true},
                                   memory.devices());
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("of 24 chunks"), std::string::npos) << error.what();
}

// The slow device takes one group, the small one only short arrays, of which the fast one leaves
// some: it begins with the longest.
TEST(UnequalDevices, ShareManyArraysBySize) {
  std::vector<std::uint64_t> offsets = {0};
  for (int i = 0; i < 40; ++i) offsets.push_back(offsets.back() + (i % 4 == 0 ? 1'000 : 100));
  std::vector<Key> keys(offsets.back());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(i * 2'654'435'761U);
  std::vector<Key> wanted = keys;
  for (std::size_t i = 0; i < 40; ++i) {
    std::sort(wanted.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
              wanted.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
  }
  const gpu::HostArrays arrays{40, 0, offsets.data()};
  const auto bytes = gpu::host_segments_scratch_bytes<Key, gpu::NoValue>(arrays, kDevices, 100);
  std::array<std::size_t, kDevices> all{};
  std::array<std::size_t, kDevices> longest{};
  {
    const Memory memory({bytes, bytes, 3'000});
    std::mutex mutex;
    std::condition_variable more;
    emulator::set_copy_hook([&](int device, void* to, const void* from, std::size_t copied) {
      const auto* const at = static_cast<const Key*>(from);
      if (to == nullptr || at < keys.data() || at >= keys.data() + keys.size()) return;
      const auto number = static_cast<std::size_t>(device);
      const std::uint64_t count = copied / sizeof(Key);
      std::unique_lock lock(mutex);
      const auto enough = [&] { return all[0] + all[2] + 1'000 >= keys.size(); };
      if (number == kSlow) {
        EXPECT_TRUE(more.wait_for(lock, std::chrono::minutes(2), enough));
      }
      all.at(number) += count;
      longest.at(number) = std::max(longest.at(number), count);
      more.notify_all();
    });
    std::vector<Key> sorted(keys.size());
    gpu::sort_host_segments<Key, gpu::NoValue>({.input = {keys.data(), nullptr},
                                                .output = {sorted.data(), nullptr},
                                                .arrays = arrays,
                                                .least_group_keys = 100},
                                               memory.devices());
    emulator::set_copy_hook({});
    EXPECT_TRUE(sorted == wanted);
  }
  EXPECT_LE(all[kSlow], 1'000U);
  EXPECT_EQ(longest[0], 1'000U);
  EXPECT_LE(longest[2], 300U);
  EXPECT_EQ(all[0] + all[1] + all[2], keys.size());
}

}  // namespace
}  // namespace gsort
