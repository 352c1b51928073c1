// ContentSum: identifies which bytes a file has at which offsets, by two numbers: sums modulo 2^64
// over the words of eight bytes of the file, so they can be added up piece by piece, in any order,
// wherever pieces begin and end. A file with other bytes almost certainly has other sums. This does
// not protect against a person who constructs bytes with the same sums.
//
// The word at offset 8 i, least byte first, enters each sum times a number made from i. The second
// sum takes the bytes of the word in reverse, as bits at the top of a word change few bits of a
// product. If a piece begins or ends within a word, bytes outside the piece count as zero.
#pragma once

#include <atomic>
#include <cstdint>

#include "io/system/bytes.hpp"

namespace gsort::io {

struct ContentSum {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  ContentSum& operator+=(const ContentSum& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  friend bool operator==(const ContentSum&, const ContentSum&) = default;
};

// The sum of the bytes at an offset of a file.
[[nodiscard]] ContentSum content_sum_of(std::uint64_t offset, ConstByteSpan bytes);

// Adds up the bytes that are written. Thread-safe.
class ContentCounter {
 public:
  void add(std::uint64_t offset, ConstByteSpan bytes) {
    const ContentSum sum = content_sum_of(offset, bytes);
    first_.fetch_add(sum.first, std::memory_order_relaxed);
    second_.fetch_add(sum.second, std::memory_order_relaxed);
  }
  [[nodiscard]] ContentSum sum() const { return {first_, second_}; }

 private:
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> second_{0};
};

}  // namespace gsort::io
