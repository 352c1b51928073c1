// gather_index: which words of a tile a thread merges, so that no two threads of a warp meet in a
// bank.
//
// Problem. Two sorted lists A and B in shared memory are to be merged by threads that make E
// outputs each. A thread that walks along its parts of A and B reads words that depend on the data:
// 32 threads meet in the 32 banks about three deep, and each read waits for the comparison before
// it.
//
// Idea (B reversed: Berney and Sitchinava). Let the words be A ascending, then B from its end to
// its begin: up, then down. Row r holds the words [rE, (r+1)E). Thread t makes the outputs [tE,
// (t+1)E): A[a0, a1) and B[b0, b1) with a0 + b0 = tE, a1 + b1 = (t+1)E. It needs the words
// [a0, a1) of A, and of B the words from rowsE - b1, and since rowsE and a1 + b1 are multiples of
// E, these begin at the residue of a1 modulo E: where the part of A ends, the part of B goes on. So
// the two parts hold each residue 0 .. E-1 exactly once, and the thread can read them in the order
// of the residues: in round j every thread reads a word of residue j, each in a row of its own. One
// pad word a row makes the bank row + j. The rows that a warp reads of A and of B join end to end
// modulo 32 if the region has a multiple of 32 rows: no conflicts; else they overlap, and two
// threads at most meet in a bank. No read depends on another. The registers then hold a
// rotated up-down sequence; a bitonic network sorts it (thread_sort.hpp).
//
// Example. E = 4, A = 1 4 5 7 9, B = 2 3 6: words 1 4 5 7 | 9 6 3 2 in two rows.
//   thread 0: outputs 1 2 3 4: a0 = 0, a1 = 2: words 0 1 of A, then residues 2 3: words 6 7, 3 2.
//             registers 1 4 3 2.
//   thread 1: outputs 5 6 7 9: a0 = 2, a1 = 5: words 2 3 4 of A have residues 2 3 0;
//             residue 1 is word 5, the 6. Registers 9 6 5 7: 5 7 9 6 rotated.
//
// The co-rank a0 of output tE is found in the same words. The prefix tE leaves a window of (rows -
// t)E words, beginning at a0, that holds the greatest keys. A window moves right while the word
// that it would gain is not less than the word that it would lose, and both stand at the same
// residue, rows - t rows apart: the search goes over rows first, then inside one row, with two
// fixed row pointers.
//
// Cost. log2(rows) + log2(E) + 1 comparisons for the search, E reads for the gather.
//
// Source. K. Berney, N. Sitchinava, "Eliminating bank conflicts in GPU mergesort", SPAA 2025; merge
// path: S. Odeh et al., doi:10.1109/IPDPSW.2012.202; O. Green, R. McColl, D. Bader, "GPU merge
// path", ICS 2012.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/cuda/static_for.hpp"

namespace gsort::gpu {

[[nodiscard]] constexpr std::size_t floor_log2(unsigned value) {
  return value < 2 ? 0 : 1 + floor_log2(value / 2);
}

// The greatest power of two that is <= value, or 1.
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned first_step(unsigned value) {
#ifdef __CUDA_ARCH__
  return 1U << (31 - __clz(static_cast<int>(value | 1U)));
#else
  unsigned step = 1;
  while (2 * step <= value) step *= 2;
  return step;
#endif
}

// How many of the first row * kRowWords outputs come from A. The tile's region has `rows` rows:
// a_words words of A ascending, then the rest, B descending. `words.place_of(row)` is the place of
// a row, whatever that is to `words.read(place, residue)`. The row behind the region is read, but
// what it holds does not matter. Requires: row < rows, a_words <= rows * kRowWords.
template <unsigned kRowWords, class Words>
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned row_co_rank(unsigned row, unsigned rows,
                                                               unsigned a_words,
                                                               const Words& words) {
  const unsigned bound = a_words < row * kRowWords ? a_words : row * kRowWords;
  const unsigned shift = rows - row;
  // A word of A is among the outputs unless the word `shift` rows on is less; then the co-rank is
  // greater than the word's index. Ties: A first.
  const auto among = [&](unsigned lost, unsigned gained, unsigned residue) {
    return !(words.read(gained, residue) < words.read(lost, residue));
  };
  if (bound == 0 || !among(words.place_of(0), words.place_of(shift), 0)) return 0;
  const unsigned last_row = (bound - 1) / kRowWords;
  unsigned found_row = 0;
  for (unsigned step = first_step(last_row); step > 0; step /= 2) {
    const unsigned next = found_row + step < last_row ? found_row + step : last_row;
    if (among(words.place_of(next), words.place_of(next + shift), 0)) found_row = next;
  }
  const unsigned lost = words.place_of(found_row);
  const unsigned gained = words.place_of(found_row + shift);
  const unsigned last_residue = found_row == last_row ? (bound - 1) % kRowWords : kRowWords - 1;
  unsigned residue = 0;
  static_for<floor_log2(kRowWords)>([&](auto round) {
    constexpr unsigned kStep = kRowWords >> (decltype(round)::value + 1);
    const unsigned next = residue + kStep < last_residue ? residue + kStep : last_residue;
    if (among(lost, gained, next)) residue = next;
  });
  return found_row * kRowWords + residue + 1;
}

// Where a thread finds the word of each residue: in first_row up to first_end, in second_row up to
// second_end, then in third_row. Rows are counted from the region's first.
struct GatherRows {
  unsigned first_end = 0;
  unsigned second_end = 0;
  unsigned first_row = 0;
  unsigned second_row = 0;
  unsigned third_row = 0;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned row_of(unsigned residue) const {
    return residue < first_end ? first_row : (residue < second_end ? second_row : third_row);
  }
};

// The gather of thread `row` that takes A[a_begin, a_end).
// Requires: 0 <= a_end - a_begin <= kRowWords, and both are co-ranks of neighbouring rows.
template <unsigned kRowWords>
[[nodiscard]] GSORT_HOST_DEVICE constexpr GatherRows gather_rows(unsigned row, unsigned rows,
                                                                 unsigned a_begin, unsigned a_end) {
  const unsigned a_row = a_begin / kRowWords;
  const unsigned begin = a_begin % kRowWords;
  const unsigned end = begin + (a_end - a_begin);
  const unsigned b_row = a_row + (rows - row);  // B's row for the residues before `begin`
  if (end > kRowWords) {
    // A's part runs on in the next row; B fills the hole between its end and its begin.
    return {end - kRowWords, begin, a_row + 1, b_row, a_row};
  }
  return {begin, end, b_row, a_row, b_row - 1};
}

#ifdef __CUDA_ARCH__
// Arithmetic with denormals, as PTX: in C++ the flag -ftz=true, a part of --use_fast_math, would
// make 0 of them.

// a - b, clamped to [0, 1].
__device__ inline float saturated_difference(float a, float b) {
  float result;
  asm("{\n\t"
      ".reg .f32 difference;\n\t"
      "sub.rn.f32 difference, %1, %2;\n\t"
      "cvt.sat.f32.f32 %0, difference;\n\t"
      "}"
      : "=f"(result)
      : "f"(a), "f"(b));
  return result;
}

// a * b + c.
__device__ inline float denormal_multiply_add(float a, float b, float c) {
  float result;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
  return result;
}
#endif

// The same as byte offsets of the words from the region's first, with the choice among the three
// rows made by the floating-point pipe, which is idle here, in place of comparisons and selections
// in the busy integer pipe: clamping first_end - residue to [0, 1] gives 1 or 0, and an integer
// below 2^23 read as the bits of a float is a denormal number that adds and multiplies by 0 and 1
// exactly.
struct GatherOffsets {
  float first_end = 0;
  float second_end = 0;
  float third = 0;  // offset of the third row
  float second_minus_third = 0;
  float first_minus_second = 0;

  // Offset of the row that holds `residue`.
  [[nodiscard]] GSORT_HOST_DEVICE unsigned row_offset(float residue) const {
#ifdef __CUDA_ARCH__
    const float in_first = saturated_difference(first_end, residue);
    const float before_third = saturated_difference(second_end, residue);
    return __float_as_uint(
        denormal_multiply_add(in_first, first_minus_second,
                              denormal_multiply_add(before_third, second_minus_third, third)));
#else
    const float in_first = residue < first_end ? 1.0F : 0.0F;
    const float before_third = residue < second_end ? 1.0F : 0.0F;
    return std::bit_cast<unsigned>(third + before_third * second_minus_third +
                                   in_first * first_minus_second);
#endif
  }
};

// The float whose value is `number` units of the least denormal.
[[nodiscard]] GSORT_HOST_DEVICE constexpr float as_denormal(int number) {
  const auto magnitude = static_cast<unsigned>(number < 0 ? -number : number);
  return std::bit_cast<float>(number < 0 ? magnitude | 0x80000000U : magnitude);
}

// place / 2 + offset, by the floating-point pipe as above; `offset` is a denormal. For arrays whose
// elements have half the size of those that `place` counts in.
// Requires: place is even, and place and the result lie below 2^23.
[[nodiscard]] GSORT_HOST_DEVICE inline unsigned half_place(unsigned place, float offset) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(denormal_multiply_add(__uint_as_float(place), 0.5F, offset));
#else
  return std::bit_cast<unsigned>(std::bit_cast<float>(place) * 0.5F + offset);
#endif
}

// `origin` is added to all offsets. Requires: origin and all offsets lie below 2^23.
[[nodiscard]] GSORT_HOST_DEVICE constexpr GatherOffsets gather_offsets(const GatherRows& rows,
                                                                       unsigned row_bytes,
                                                                       unsigned origin) {
  const int first = static_cast<int>(rows.first_row * row_bytes);
  const int second = static_cast<int>(rows.second_row * row_bytes);
  const int third = static_cast<int>(rows.third_row * row_bytes);
  return {static_cast<float>(rows.first_end), static_cast<float>(rows.second_end),
          as_denormal(third + static_cast<int>(origin)), as_denormal(second - third),
          as_denormal(first - second)};
}

}  // namespace gsort::gpu
