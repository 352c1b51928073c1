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
// (t+1)E): A[a0, a1) and B[b0, b1) with a0 + b0 = tE, a1 + b1 = (t+1)E. Of A it needs the words
// [a0, a1); of B the words from rowsE - b1, and since rowsE and a1 + b1 are multiples of E, that
// begins at the residue of a1 modulo E: where the part of A ends, the part of B goes on. So the two
// parts hold each residue 0 .. E-1 exactly once, and the thread can read them in the order of the
// residues: in round j every thread reads a word of residue j, each in a row of its own. One pad
// word a row makes the bank row + j. The rows that a warp reads of A and of B join end to end
// modulo 32 if the region has a multiple of 32 rows: no conflicts; else they overlap, and two
// threads at most meet in a bank. No read depends on another. What the registers hold then is a
// rotated up-down sequence; a bitonic network sorts it (thread_sort.hpp).
//
// Example. E = 4, A = 1 4 5 7 9, B = 2 3 6: words 1 4 5 7 | 9 6 3 2 in two rows.
//   thread 0: outputs 1 2 3 4: a0 = 0, a1 = 2: words 0 1 of A, then residues 2 3: words 6 7, that
//   is 3 2.
//             registers 1 4 3 2.
//   thread 1: outputs 5 6 7 9: a0 = 2, a1 = 5: words 2 3 4 of A have residues 2 3 0; residue 1 is
//   word 5, the 6.
//             registers 9 6 5 7: 5 7 9 6 rotated.
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

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

// How many of the first row * kRowWords outputs come from A. The tile's region has `rows` rows:
// a_words words of A ascending, then the rest, B descending. `read(row, residue)` gives a word.
// Requires: row < rows, a_words <= rows * kRowWords.
template <unsigned kRowWords, class Read>
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned row_co_rank(unsigned row, unsigned rows,
                                                               unsigned a_words, const Read& read) {
  const unsigned bound = a_words < row * kRowWords ? a_words : row * kRowWords;
  const unsigned shift = rows - row;
  // Is A's word at (r, residue) among the outputs? Then the co-rank is greater than its index.
  // Ties: A first.
  const auto among = [&](unsigned r, unsigned residue) {
    return !(read(r + shift, residue) < read(r, residue));
  };
  if (bound == 0 || !among(0, 0)) return 0;
  const unsigned last_row = (bound - 1) / kRowWords;
  unsigned found_row = 0;
  unsigned step = 1;
  while (2 * step <= last_row) step *= 2;
  for (; step > 0; step /= 2) {
    const unsigned next = found_row + step < last_row ? found_row + step : last_row;
    if (among(next, 0)) found_row = next;
  }
  const unsigned last_residue = found_row == last_row ? (bound - 1) % kRowWords : kRowWords - 1;
  unsigned residue = 0;
  for (unsigned half = kRowWords / 2; half > 0; half /= 2) {
    const unsigned next = residue + half < last_residue ? residue + half : last_residue;
    if (among(found_row, next)) residue = next;
  }
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

}  // namespace gsort::gpu
