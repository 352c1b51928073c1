// Sorts, merges and batches of keys in device memory, and sorts of keys in host memory on a device,
// queued on a stream. Only in builds with CUDA. The caller owns all memory and gives each call
// scratch memory of the size that the function beside it returns; no call allocates.
//
//   const std::size_t bytes = gsort::device_sort_scratch_bytes<float>(count);
//   cudaMalloc(&scratch, bytes);
//   gsort::sort_device_keys(keys, keys, count, gsort::Order::kAscending, {scratch, bytes}, stream);
//
// For all calls: the work is queued on `stream`, of the current device; no call waits for the
// device, and calls on several streams may overlap if each has its own scratch memory. All but
// sort_host_keys can be captured in a CUDA graph, which then sorts whatever the arrays hold when it
// is launched. The same input gives the same bytes every time, on every GPU. Requires:
// keys aligned to their size, scratch to 256 bytes (as cudaMalloc does); arrays are apart unless
// said otherwise, and stay alive and untouched until the stream has passed the work. Throws:
// Error(kUsage), with nothing queued, for null pointers with a count, overlap, misalignment, more
// than 2^35 keys in one call (the ..._scratch_bytes functions throw it, too) and too little
// scratch; Error(kDevice), naming the operation, when CUDA fails. Thread-safe.
// error_of.hpp gives errors as results.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "library/sort_keys.hpp"

// cudaStream_t points to this; declaring it here avoids CUDA's headers.
struct CUstream_st;

namespace gsort {

using DeviceStream = CUstream_st*;

struct DeviceScratch {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

// A date or duration, as NumPy's datetime64 and timedelta64 and gsort's time64 are: a number of 64
// bits of which the least, NaT, is the last in ascending order.
enum class Time64 : std::int64_t {};

// 16 bytes that are compared as memcmp does, from the first one on.
struct alignas(16) Uuid {
  std::uint8_t bytes[16];
};

// The types of keys that the device sorts. Float16 and BFloat16 have the bits of CUDA's __half and
// __nv_bfloat16, whose arrays may be given as theirs; UInt128 and Int128 are the compiler's types.
template <class Key>
concept DeviceKey = SortableKey<Key> || std::same_as<Key, Time64> || std::same_as<Key, Float16> ||
    std::same_as<Key, BFloat16> || std::same_as<Key, UInt128> || std::same_as<Key, Int128> ||
    std::same_as<Key, Uuid>;

// The types of keys that are sorted in host memory and over several devices. Convert others, or
// sort them on one device; sort_keys.hpp sorts integers of 8 and 16 bits in host memory.
template <class Key>
concept DeviceKeyOf32Or64Bits = DeviceKey<Key> &&(sizeof(Key) == 4 || sizeof(Key) == 8);

// Scratch sizes below are for keys of 32 and 64 bits. Sorts of 2^16 or more keys alone of 8 and 16
// bits count them, with at most 2 MiB. Otherwise they are sorted as words of 32 bits: they need the
// memory of as many keys of 32 bits, and 4 bytes a key, or 8 in merges and in segments of pairs.
// Keys of 128 bits need one more array of keys in merges. Their pairs are sorted by numbers, in two
// halves: 4 bytes a pair, and what pairs of 64-bit keys and numbers need. Two or more arrays of
// 128-bit keys may have at most 2^32 keys in all. In addition to what arrays of as many 64-bit keys
// need, they need 32 bytes a key, or 40 if an array can have more than 8,192.

// One more array of keys and a few per cent; never less for a larger count.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_sort_scratch_bytes(std::uint64_t count);

// Sorts input[0, count) into output, which may be the same array.
template <DeviceKey Key>
void sort_device_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                      const DeviceScratch& scratch, DeviceStream stream);

// 5 bytes for every 1,000 keys of 32 bits in both arrays together, 10 of 64 bits.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_merge_scratch_bytes(std::uint64_t total);

// Merges two arrays that are sorted in `order`, and may overlap each other.
template <DeviceKey Key>
void merge_device_keys(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count,
                       Key* output, Order order, const DeviceScratch& scratch, DeviceStream stream);

// The same for two slices; for up to 8 a few per cent of the keys, for more one more array of keys.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_slices_scratch_bytes(std::uint64_t total,
                                                      std::uint32_t slice_count);

// Merges any number of slices that are sorted in `order` and lie back to back in input. How many
// keys each has is in slice_counts, in host memory, which is read before the call returns.
template <DeviceKey Key>
void merge_device_slices(const Key* input, const std::uint64_t* slice_counts,
                         std::uint32_t slice_count, Key* output, Order order,
                         const DeviceScratch& scratch, DeviceStream stream);

// 0 for two or more arrays of at most 8,192 keys each; else about what a sort of all keys needs.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_batch_scratch_bytes(std::uint64_t array_count,
                                                     std::uint64_t array_keys);

// Sorts each of array_count arrays of array_keys keys, which lie back to back, into its place in
// output, which may be the same memory.
template <DeviceKey Key>
void sort_device_batch(const Key* input, Key* output, std::uint64_t array_count,
                       std::uint64_t array_keys, Order order, const DeviceScratch& scratch,
                       DeviceStream stream);

// Keys in host memory, sorted on the device. Scratch is device memory: two arrays of keys and a
// sixth of one such array, or up to a half of one for fewer than 2^24 keys. It never decreases as
// `count` grows.
template <DeviceKeyOf32Or64Bits Key>
[[nodiscard]] std::size_t host_sort_scratch_bytes(std::uint64_t count);

// Sorts input[0, count) into output, which may be the same array. Chunks are sorted while others
// are on the bus, if the memory is pinned (cudaHostRegister, cudaMallocHost); else the call waits
// for the copies, which are several times slower.
template <DeviceKeyOf32Or64Bits Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    const DeviceScratch& scratch, DeviceStream stream);

}  // namespace gsort
