// Finds the keys of one sorted sequence that another one has, for --intersect and --subtract.
//
// Problem. Both sequences are read once, and which of them advances next is random: a branch that
// depends on it is mispredicted for every other key.
//
// Idea. Each step compares one key with one other, writes the key to both places where it may
// belong, and adds the results of the comparisons to the places: the only branch is the end of the
// loop. If there are many more others than keys, most others are skipped instead: from the last
// place on in steps of 1, 2, 4, ..., and then by bisection.
//
//   keys 2 4 7   others 1 2 2 5 7 9      members 2 7, rest 4
//
// Cost. One step for each key and each other, or about 2 log2(others / keys) for each key.
// Source: Bentley, Yao, An almost optimal algorithm for unbounded searching (1976), for the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

// The keys that stay: those that are among the others, or those that are not.
enum class Stay : std::uint8_t { kMembers, kRest };

// Copies the keys that stay to `kept` and all others to `dropped`, both in order; returns how many
// stay. Keys are ordered numbers.
// Requires: keys are strictly ascending, others ascending; room for keys.size() keys at both.
// `kept` may be where the keys are; else none of them overlap.
template <class Key>
std::size_t split_members(std::span<const Key> keys, std::span<const Key> others, Stay stay,
                          Key* kept, Key* dropped);

// The number of keys, and their sum modulo 2^64 (2^128 for keys of 128 bits): selections that
// differ in one key have different sums.
struct KeySum {
  std::uint64_t count = 0;
  UInt128 sum = 0;

  friend bool operator==(const KeySum&, const KeySum&) = default;
};

template <class Key>
[[nodiscard]] KeySum sum_keys(std::span<const Key> keys);

// The sum of the keys that are among the others, found in another way, to check a split. Requires:
// as split_members().
template <class Key>
[[nodiscard]] KeySum sum_members(std::span<const Key> keys, std::span<const Key> others);

}  // namespace gsort
