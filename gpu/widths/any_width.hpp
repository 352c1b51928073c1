// Sorts and merges in device memory of keys of every width: the functions of the other rooms, with
// the same requests, results, requirements and errors. any_width::argsort<Key, Index>(request)
// is gpu::argsort, narrow::argsort for keys of 8 and 16 bits, wide::argsort for those of
// 128. Any host code may include this file.
//
// narrow: a sort of 2^16 keys or more counts them; its scratch memory is at most 2 MiB for any
// count. Any other call here turns the keys into words of 32 bits, sorts or merges these, and turns
// them into keys again. Its scratch memory is 4 bytes a key, or 8 if a call does not work in place,
// plus the scratch memory of the same call for keys of 32 bits.
//
// wide: Keys alone are sorted and merged by kernels for keys of 128 bits. Merges copy keys that are
// not ordered numbers first; their scratch memory includes room for the copy. Pairs are sorted
// twice, stably, as pairs of half a key and a number, then gathered; merges of pairs are such
// sorts. Their scratch memory is a number of each, two arrays of half keys, one of numbers, and a
// few per cent. Many arrays of keys are sorted as pairs are (device_pair_batch.hpp), at most 2^32
// keys, with one more array of keys; a single array is sorted as such.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/segmented/device_pair_batch.hpp"
#include "gpu/widths/device_argsort.hpp"

// NOLINTBEGIN(bugprone-macro-parentheses): names, and lists in parentheses

// All calls that narrow and wide have, each with the parameters of its query for scratch memory:
// declarations, instantiations and any_width are made of these lists.
#define GSORT_KEY_CALLS(CALL, Key)                                                   \
  CALL(Key, sort_keys_by_distribution, (const KeySort<Key>&), (std::uint64_t count)) \
  CALL(Key, merge_arrays, (const ArrayMerge<Key>&), (std::uint64_t total))           \
  CALL(Key, merge_slices, (const SliceMerge<Key>&),                                  \
       (std::uint64_t total, std::uint32_t slice_count))                             \
  CALL(Key, sort_batch, (const BatchSort<Key>&),                                     \
       (std::uint64_t array_count, std::uint64_t array_keys))                        \
  CALL(Key, sort_segmented_batch, (const SegmentedSort<Key>&),                       \
       (std::uint64_t array_count, std::uint64_t count, std::uint64_t longest))
#define GSORT_PAIR_CALLS(CALL, Key, Value)                                                        \
  CALL(Key, Value, sort_many_pairs, (const PairSort<Key, Value>&), (std::uint64_t count))         \
  CALL(Key, Value, merge_pair_arrays, (const PairArrayMerge<Key, Value>&), (std::uint64_t total)) \
  CALL(Key, Value, merge_pair_slices, (const PairSliceMerge<Key, Value>&),                        \
       (std::uint64_t total, std::uint32_t slice_count))                                          \
  CALL(Key, Value, argsort, (const KeyArgsort<Key, Value>&), (std::uint64_t count))

#define GSORT_DECLARE_KEY_CALL(Key, call, request, sizes) \
  template <KeyOfTheseWidths Key>                         \
  [[nodiscard]] std::size_t call##_scratch_bytes sizes;   \
  template <KeyOfTheseWidths Key>                         \
  void call request;
#define GSORT_DECLARE_PAIR_CALL(Key, Value, call, request, sizes) \
  template <KeyOfTheseWidths Key, class Value>                    \
  [[nodiscard]] std::size_t call##_scratch_bytes sizes;           \
  template <KeyOfTheseWidths Key, class Value>                    \
  void call request;

namespace gsort::gpu::narrow {

template <class Key>
concept KeyOfTheseWidths = std::same_as<Key, std::uint8_t> || std::same_as<Key, std::uint16_t>;

GSORT_KEY_CALLS(GSORT_DECLARE_KEY_CALL, Key)
GSORT_PAIR_CALLS(GSORT_DECLARE_PAIR_CALL, Key, Value)

}  // namespace gsort::gpu::narrow

namespace gsort::gpu::wide {

template <class Key>
concept KeyOfTheseWidths = kIsWide<Key>;

GSORT_KEY_CALLS(GSORT_DECLARE_KEY_CALL, Key)
GSORT_PAIR_CALLS(GSORT_DECLARE_PAIR_CALL, Key, Value)

}  // namespace gsort::gpu::wide
#undef GSORT_DECLARE_KEY_CALL
#undef GSORT_DECLARE_PAIR_CALL

namespace gsort::gpu::any_width {

#define GSORT_FORWARD(call)                                 \
  template <class Key, class... Values, class... Arguments> \
  decltype(auto) call(const Arguments&... arguments) {      \
    if constexpr (narrow::KeyOfTheseWidths<Key>) {          \
      return narrow::call<Key, Values...>(arguments...);    \
    } else if constexpr (wide::KeyOfTheseWidths<Key>) {     \
      return wide::call<Key, Values...>(arguments...);      \
    } else {                                                \
      return gpu::call<Key, Values...>(arguments...);       \
    }                                                       \
  }
#define GSORT_FORWARD_KEY_CALL(Key, call, request, sizes) \
  GSORT_FORWARD(call)                                     \
  GSORT_FORWARD(call##_scratch_bytes)
#define GSORT_FORWARD_PAIR_CALL(Key, Value, call, request, sizes) \
  GSORT_FORWARD(call)                                             \
  GSORT_FORWARD(call##_scratch_bytes)
GSORT_KEY_CALLS(GSORT_FORWARD_KEY_CALL, Key)
GSORT_PAIR_CALLS(GSORT_FORWARD_PAIR_CALL, Key, Value)
#undef GSORT_FORWARD
#undef GSORT_FORWARD_KEY_CALL
#undef GSORT_FORWARD_PAIR_CALL

using gpu::sort_pair_batch;
using gpu::sort_pair_batch_scratch_bytes;

}  // namespace gsort::gpu::any_width

// For the files that have the definitions.
#define GSORT_INSTANTIATE_KEY_CALL(Key, call, request, sizes) \
  template std::size_t call##_scratch_bytes<Key> sizes;       \
  template void call request;
#define GSORT_INSTANTIATE_PAIR_CALL(Key, Value, call, request, sizes) \
  template std::size_t call##_scratch_bytes<Key, Value> sizes;        \
  template void call request;

// NOLINTEND(bugprone-macro-parentheses)
