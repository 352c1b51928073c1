// The parameters of the kernels of pair_words.cu that sort pairs by digits, and their launches.
// Each queues one kernel on `stream` and checks the launch. Throws: Error(kDevice) naming the
// kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

template <class Key>
struct KeyDigitPass {
  const Key* keys_in = nullptr;
  KeyMap<Key> map;
  unsigned shift = 0;                      // of the digit in ordered keys
  const std::uint32_t* numbers = nullptr;  // of the pairs, in their order so far; null: 0, 1, ...
  std::uint32_t* digits = nullptr;
  std::uint64_t count = 0;  // of pairs
};

template <class Key, class Value>
struct PairPlacePass {
  const Key* keys_in = nullptr;
  Key* keys_out = nullptr;           // null: not wanted
  const Value* values_in = nullptr;  // null: numbers in the array
  Value* values_out = nullptr;
  std::uint64_t count = 0;
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;            // of each array, if there are no offsets
  const std::uint64_t* offsets = nullptr;  // array_count + 1
  const std::uint32_t* numbers = nullptr;  // of the pairs in their order
};

// Writes 32 bits of each ordered key.
template <class Key>
void launch_write_digits(const KeyDigitPass<Key>& pass, cudaStream_t stream);

// Writes the pairs in the order of their numbers.
template <class Key, class Value>
void launch_place_pairs(const PairPlacePass<Key, Value>& pass, cudaStream_t stream);

}  // namespace gsort::gpu
