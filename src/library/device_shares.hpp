// One sort over several devices: keys, or pairs of keys and values, that lie in the memories of
// several devices, or in host memory, and the indices that sort keys in host memory. Only in builds
// with CUDA. The caller owns all memory, as in device_keys.hpp; the calls wait until the sort is
// done. They use streams of their own: keys must have arrived on the devices before (cudaMemcpy
// from memory that is not pinned may return earlier; cudaDeviceSynchronize waits).
//
//   std::vector<gsort::DeviceShare<float>> shares = {{0, keys_on_0, count_0, scratch_on_0},
//                                                    {1, keys_on_1, count_1, scratch_on_1}};
//   gsort::sort_device_shares<float>(shares);
//
// Devices exchange keys directly where they have access to each other's memory, which the calls
// enable (cudaDeviceEnablePeerAccess), else through host memory. A device may be named several
// times. The current device stays as it is.
// Throws: Error(kUsage), with nothing done, for no devices, null pointers with a count, overlap,
// misalignment, more than 2^35 keys for each device, and too little scratch; Error(kDevice), naming
// the operation and the device, when CUDA fails. Thread-safe on disjoint memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "library/device_pairs.hpp"

namespace gsort {

// The keys that one device holds.
template <DeviceKeyOf32Or64Bits Key>
struct DeviceShare {
  int device = 0;
  Key* keys = nullptr;  // count keys in its memory
  std::uint64_t count = 0;
  DeviceScratch scratch;  // in its memory, of device_share_scratch_bytes(count, shares)
};

// For a device with `count` keys, if there are `shares` shares in all: one more array of keys (two
// for more than 8 shares), and a few per cent.
template <DeviceKeyOf32Or64Bits Key>
[[nodiscard]] std::size_t device_share_scratch_bytes(std::uint64_t count, unsigned shares);

// Sorts the keys of all shares as one sequence, in place. Each share has as many keys as before:
// the first one the first keys, exactly, whatever the keys are. Work that was queued for the keys
// must be done before the call. After Error(kDevice) the shares do not hold all of their keys.
template <DeviceKeyOf32Or64Bits Key>
void sort_device_shares(std::span<const DeviceShare<Key>> shares, Order order = Order::kAscending);

// The pairs that one device holds.
template <DeviceKeyOf32Or64Bits Key, class Value>
requires DeviceWord<Value> || DeviceMoved<Value>
struct DevicePairShare {
  int device = 0;
  Key* keys = nullptr;      // count keys in its memory
  Value* values = nullptr;  // and their values
  std::uint64_t count = 0;
  DeviceScratch scratch;  // in its memory, of device_pair_share_scratch_bytes(count, shares)
};

// For pairs: one more array of keys and one of values (two of each for more than 8 shares), a few
// per cent, and, for floats, another array of keys.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
[[nodiscard]] std::size_t device_pair_share_scratch_bytes(std::uint64_t count, unsigned shares);

// The same for pairs, stably: of equal keys, those of lower shares come first.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_device_pair_shares(std::span<const DevicePairShare<Key, Value>> shares,
                             Order order = Order::kAscending);

// A device that takes part in a sort of keys in host memory. Devices need not be alike: each takes
// the next chunk of the keys when it is free, as long as its scratch memory has room, and then the
// next piece of the result. With host_..._scratch_bytes(count, devices) on each, all take the same
// number of keys. Give fast devices more: then they take more. Devices with little memory may have
// less, or none, if all together have room for all keys.
struct HostSortDevice {
  int device = 0;
  DeviceScratch scratch;  // in its memory
};

// For each of `devices`: two arrays of an equal share of `count` keys, and an eighth of one
// such array. A share of fewer than 2^24 keys needs more; one of fewer than 2^22 needs four arrays.
template <DeviceKeyOf32Or64Bits Key>
[[nodiscard]] std::size_t host_sort_scratch_bytes(std::uint64_t count, unsigned devices);

// Sorts input[0, count) in host memory into output, which may be the same array. The links of the
// devices to the host work at once, if the memory is pinned (cudaHostRegister, cudaMallocHost).
template <DeviceKeyOf32Or64Bits Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    std::span<const HostSortDevice> devices);

// As host_sort_scratch_bytes, with arrays of pairs instead of keys.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
[[nodiscard]] std::size_t host_pairs_scratch_bytes(std::uint64_t count, unsigned devices);

// Sorts pairs in host memory, stably. keys_out may be keys_in, and values_out may be values_in.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_host_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                     std::uint64_t count, Order order, std::span<const HostSortDevice> devices);

// Writes the indices, from 0 to count - 1, that sort keys in host memory; those of equal keys
// ascend. Scratch memory: host_pairs_scratch_bytes<Key, Index>. Also throws Error(kUsage) if count
// is greater than the greatest Index.
template <DeviceKeyOf32Or64Bits Key, DeviceIndex Index>
void argsort_host_keys(const Key* keys, Index* indices, std::uint64_t count, Order order,
                       std::span<const HostSortDevice> devices);

// Where arrays in host memory lie that are sorted each by itself: back to back, and of one length;
// or with array_count + 1 offsets, array i is [offsets[i], offsets[i + 1]).
struct HostSegments {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;            // of each array, if there are no offsets
  const std::uint64_t* offsets = nullptr;  // in host memory
};

// For each of `devices`. With this, devices of the same speed end at about the same time. A
// device with less memory takes those arrays for which it has room.
template <DeviceKeyOf32Or64Bits Key>
[[nodiscard]] std::size_t host_segments_scratch_bytes(const HostSegments& segments,
                                                      unsigned devices);

// Sorts each array into its place in output, which may be the same memory. Arrays are packed into
// groups; a free device takes the largest group that is left and that it has room for.
// This and the calls below also throw Error(kUsage) for offsets that do not ascend from 0, and for
// an array that no device has room for.
template <DeviceKeyOf32Or64Bits Key>
void sort_host_segments(const Key* input, Key* output, const HostSegments& segments, Order order,
                        std::span<const HostSortDevice> devices);

// For each of `devices`, for pairs. Throws: Error(kUsage) for an array of more than 2^32.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
[[nodiscard]] std::size_t host_segment_pairs_scratch_bytes(const HostSegments& segments,
                                                           unsigned devices);

// Sorts the pairs of each array, stably. keys_out may be keys_in, and values_out values_in.
template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_host_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, const HostSegments& segments, Order order,
                             std::span<const HostSortDevice> devices);

// Writes in each array's place the indices, from 0 on, that sort its keys; those of equal keys
// ascend. Scratch memory: host_segment_pairs_scratch_bytes<Key, Index>. Also throws Error(kUsage)
// if an array has more keys than an Index can number.
template <DeviceKeyOf32Or64Bits Key, DeviceIndex Index>
void argsort_host_segments(const Key* keys, Index* indices, const HostSegments& segments,
                           Order order, std::span<const HostSortDevice> devices);

// The same for other types of values.

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
[[nodiscard]] std::size_t device_pair_share_scratch_bytes(std::uint64_t count, unsigned shares) {
  return device_pair_share_scratch_bytes<Key, WordOf<Value>>(count, shares);
}

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
void sort_device_pair_shares(std::span<const DevicePairShare<Key, Value>> shares,
                             Order order = Order::kAscending) {
  using Word = WordOf<Value>;
  std::vector<DevicePairShare<Key, Word>> of_words;
  for (const auto& [device, keys, values, count, scratch] : shares) {
    of_words.push_back({device, keys, reinterpret_cast<Word*>(values), count, scratch});
  }
  sort_device_pair_shares<Key, Word>(of_words, order);
}

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
[[nodiscard]] std::size_t host_pairs_scratch_bytes(std::uint64_t count, unsigned devices) {
  return host_pairs_scratch_bytes<Key, WordOf<Value>>(count, devices);
}

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
void sort_host_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                     std::uint64_t count, Order order, std::span<const HostSortDevice> devices) {
  using Word = WordOf<Value>;
  sort_host_pairs(keys_in, keys_out, reinterpret_cast<const Word*>(values_in),
                  reinterpret_cast<Word*>(values_out), count, order, devices);
}

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
[[nodiscard]] std::size_t host_segment_pairs_scratch_bytes(const HostSegments& segments,
                                                           unsigned devices) {
  return host_segment_pairs_scratch_bytes<Key, WordOf<Value>>(segments, devices);
}

template <DeviceKeyOf32Or64Bits Key, DeviceMoved Value>
void sort_host_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, const HostSegments& segments, Order order,
                             std::span<const HostSortDevice> devices) {
  using Word = WordOf<Value>;
  sort_host_segment_pairs(keys_in, keys_out, reinterpret_cast<const Word*>(values_in),
                          reinterpret_cast<Word*>(values_out), segments, order, devices);
}

}  // namespace gsort
