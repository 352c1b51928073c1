// The parameters of the kernels of pair_words.cu, and their launches. Each queues one kernel on
// `stream` and checks the launch. Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

template <class Key, class Value>
struct PairWordPass {
  const Key* keys_in = nullptr;
  Key* keys_out = nullptr;           // null: not wanted
  const Value* values_in = nullptr;  // null: numbers in the array
  Value* values_out = nullptr;
  KeyMap<Key> map;
  std::uint64_t count = 0;  // of pairs
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;                   // of each array, if there are no offsets
  const std::uint64_t* offsets = nullptr;         // array_count + 1
  std::uint64_t* words = nullptr;                 // count
  std::uint32_t* numbers = nullptr;               // count, of keys of more than 32 bits
  const std::uint32_t* numbers_before = nullptr;  // after more than one round: the numbers so far
};

// words[i] = lower 32 bits of ordered key i, above i.
template <class Key, class Value>
void launch_write_pair_words(const PairWordPass<Key, Value>& pass, cudaStream_t stream);

// numbers[i] = the pair of words[i], and words[i] = 32 bits of its ordered key, from bit `shift`
// on, above i. Pairs are those of numbers_before, if that is not null.
template <class Key, class Value>
void launch_write_upper_words(const PairWordPass<Key, Value>& pass, unsigned shift,
                              cudaStream_t stream);

// Writes the pairs in the order of the words.
template <class Key, class Value>
void launch_place_pairs(const PairWordPass<Key, Value>& pass, cudaStream_t stream);

}  // namespace gsort::gpu
