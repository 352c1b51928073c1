// Putting right what PrefixCode leaves out (pair_code.hpp): words of a sorted tile that share a
// prefix, though their keys differ, stand in the order of the input. They are neighbours; a thread
// sorts each group of them by what was left out, or gives up if a group is long.
//
// Threads: thread t looks after the groups that begin in row t.
// Shared memory: 17 reads a thread, free of conflicts; and what groups there are.
#pragma once

#include <cstdint>

#include "gpu/records/pair_tile.cuh"

namespace gsort::gpu {

// Longer groups are left alone: insertion takes the square of it, and one thread does it.
inline constexpr unsigned kMostTies = 24;

// Bit i: words i and i + 1 of the row share a prefix; the last one's other is the next row's first.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ unsigned thread_find_ties(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                     unsigned row, unsigned count) {
  using Word = typename Code::Word;
  const unsigned begin = row * kRowWords;
  if (begin + 1 >= count) return 0;
  const auto words = tile.words.at(tile.words.place_of(begin));
  unsigned ties = 0;
  Word word = words.get(0);
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const Word next = words.get(static_cast<int>(tile.words.place_of(i + 1)));
    if (Code::share_prefix(word, next)) ties |= 1U << i;
    word = next;
  }
  const unsigned neighbours = count - 1 - begin;
  if (neighbours < kRowWords) ties &= (1U << neighbours) - 1;
  return ties;
}

// Is one of these ties out of order?
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ bool thread_finds_misplaced(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                       const Code& code, unsigned row, unsigned ties) {
#pragma unroll 1
  for (; ties != 0; ties &= ties - 1) {
    const unsigned word =
        row * kRowWords + static_cast<unsigned>(__ffs(static_cast<int>(ties))) - 1;
    const auto first = tile.words.get(static_cast<int>(tile.words.place_of(word)));
    const auto next = tile.words.get(static_cast<int>(tile.words.place_of(word + 1)));
    if (code.goes_behind(first, next)) return true;
  }
  return false;
}

// Sorts words [begin, begin + count) of the tile, which share a prefix.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ void thread_sort_group(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                  const Code& code, unsigned begin, unsigned count) {
  const auto place = [&](unsigned word) {
    return static_cast<int>(tile.words.place_of(begin + word));
  };
#pragma unroll 1
  for (unsigned i = 1; i < count; ++i) {
    const auto word = tile.words.get(place(i));
    unsigned to = i;
#pragma unroll 1
    for (; to > 0; --to) {
      const auto before = tile.words.get(place(to - 1));
      if (!code.goes_behind(before, word)) break;
      tile.words.put(place(to), before);
    }
    tile.words.put(place(to), word);
  }
}

// Sorts the groups that begin in the row; `ties` has what each row's thread found. False if one of
// them is too long.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ bool thread_sort_groups(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                   const Code& code, unsigned row, const unsigned* ties) {
  const unsigned mine = ties[row];
  const unsigned begins_before = row == 0 ? 0 : ties[row - 1] >> (kRowWords - 1);
#pragma unroll 1
  for (unsigned begins = mine & ~(mine << 1 | begins_before); begins != 0; begins &= begins - 1) {
    const unsigned begin =
        row * kRowWords + static_cast<unsigned>(__ffs(static_cast<int>(begins))) - 1;
    unsigned count = 1;
#pragma unroll 1
    for (unsigned word = begin;
         word < kRows * kRowWords && (ties[word / kRowWords] >> (word % kRowWords) & 1) != 0;
         ++word) {
      if (++count > kMostTies) return false;
    }
    thread_sort_group(tile, code, begin, count);
  }
  return true;
}

// Puts the tile's words in the order of their keys. `ties` is shared scratch, an entry a row. False
// if that would take long; the words are then in no order. Requires: all words, and what the code
// staged, are visible to the block. Ensures: the words are visible to the block.
template <class Code, class Value, unsigned kRows, unsigned kRowWords>
__device__ bool block_sort_ties(const PairTile<Code, Value, kRows, kRowWords>& tile,
                                const Code& code, unsigned count, unsigned* ties) {
  if constexpr (Code::kMayMisplace) {
    if (!code.may_misplace()) return true;
    const unsigned row = threadIdx.x;
    ties[row] = thread_find_ties(tile, row, count);
    const bool misplaced = thread_finds_misplaced(tile, code, row, ties[row]);
    const int rows_to_sort = __syncthreads_count(misplaced ? 1 : 0);
    if (rows_to_sort == 0) return true;
    if (rows_to_sort > static_cast<int>(kRows / 4)) return false;
    const bool sorted = thread_sort_groups(tile, code, row, ties);
    return __syncthreads_and(sorted ? 1 : 0) != 0;
  }
  return true;
}

// Do two neighbours of the thread's sorted row share a prefix? Fills do, which is left out of
// account if tiles are `kOftenShort`.
template <class Code, bool kOftenShort, unsigned kRowWords>
__device__ bool thread_finds_tie(const typename Code::Word (&words)[kRowWords]) {
  bool found = false;
#pragma unroll
  for (unsigned i = 0; i + 1 < kRowWords; ++i) {
    const bool is_fill = kOftenShort && words[i + 1] == greatest_word<typename Code::Word>();
    found |= !is_fill && Code::share_prefix(words[i], words[i + 1]);
  }
  return found;
}

// Should the tile take whole keys, if each thread has looked at some of its pairs, and this one
// found two that share a prefix? Of pairs that are spread evenly less than one thread in 1,000
// does. Holds a barrier.
template <unsigned kThreads>
__device__ bool block_expects_many_ties(bool found) {
  return __syncthreads_count(found ? 1 : 0) > static_cast<int>(kThreads / 128);
}

}  // namespace gsort::gpu
