// Exact cuts over runs of many processes: for a position of the whole output, how many elements of
// each run of this process lie before it.
//
// Problem. The runs of all processes, merged, are cut at position T. Elements are ordered by key,
// then by process, run and place in it: so equal records keep their order, as the shares of
// processes are in the order of the input. No process knows the runs of another.
//
// Idea. c(v), the number of elements <= v, is a sum over the processes. All of them bisect v with
// the same sums, many values a round, until c(v) = T, which is the cut, or one value v is left with
// c(v - 1) < T < c(v). The T - c(v - 1) ties that are missing go to the processes in order: a sum
// over lower ranks says what is left for this one. Fences, which are in memory, narrow the values
// first, by the least and the most that c(v) can be. With them a guess: if keys are spread evenly
// between fences, c(v) is near T for values in a narrow range, and counting values of this range
// reads one block of each run. If the guess was right, few elements are left after that. When at
// most 64 are left, all processes send theirs, and rank 0 says which value is that of the cut.
//
// Example, T = 3. Process 0: 1 5 5, process 1: 5 5 9. c(4) = 1, c(5) = 5: v is 5, two ties are
// missing, and process 0, which has two, gives both. Cuts: 3 and 0.
//
// Records are cut by the first word of their keys, and the ties of a word by the next one.
//
// Cost. Half of the B values of a round are spread evenly; they narrow 64 bits in at most
// 64 / log2(B / 2) rounds. Most others lie where the cut is if keys are random (cut_values.hpp). A
// round is one sum of 8 B bytes per cut, 24 B with fences. For random keys of any width, a batch of
// cuts takes at most 6 rounds and 0.9 to 1.9 KB per cut, including the check at the end. It
// took 8 to 10 rounds when counting went on until one value was left. A cut of random keys reads
// 1.0 to 1.1 blocks of each run, 1.2 to 1.6 where runs have 16 blocks; without the guess it read
// 3.7. Threads read for several cuts at the same time, to keep disks busy.
//
// Source: M. Rahn, P. Sanders, J. Singler, "Scalable Distributed-Memory External Sorting" (2010),
// doi:10.1109/ICDE.2010.5447825, splits exactly, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/runs/run_order.hpp"
#include "cluster/team.hpp"
#include "pipeline/split/run_counter.hpp"

namespace gsort::cluster {

// Counts elements of the runs of this process. Several searches run at once, each with a number
// below slots(), so that each can keep the blocks it has read. Threads may call it at the same time
// if no two of them count for the same slot.
class RunCounts {
 public:
  using Bounds = RunCounter::Bounds;

  virtual ~RunCounts() = default;
  [[nodiscard]] virtual std::size_t runs() const = 0;
  [[nodiscard]] virtual std::uint64_t elements(std::size_t run) const = 0;
  [[nodiscard]] virtual unsigned slots() const = 0;
  // The words of a key, and the greatest value of the first one.
  [[nodiscard]] virtual std::size_t words() const = 0;
  [[nodiscard]] virtual std::uint64_t greatest() const = 0;
  // Bounds of the number of elements with a first word <= value; known without reading.
  [[nodiscard]] virtual Bounds bounds(std::size_t run, std::uint64_t value) const = 0;
  // How many elements probably have a first word <= value; known without reading.
  [[nodiscard]] virtual std::uint64_t expected(std::size_t run, std::uint64_t value) const = 0;
  // How many elements have a word <= value, with all before `low`; the result is in [low, high].
  // Requires: the elements [low, high) of the run are in order of this word.
  [[nodiscard]] virtual std::uint64_t count(unsigned slot, std::size_t run, std::size_t word,
                                            std::uint64_t value, std::uint64_t low,
                                            std::uint64_t high) = 0;
  // A word of an element.
  [[nodiscard]] virtual std::uint64_t value_at(unsigned slot, std::size_t run, std::size_t word,
                                               std::uint64_t position) = 0;
};

// How many threads of a process search for cuts: they wait for disks more than they calculate.
[[nodiscard]] constexpr unsigned cut_threads(unsigned threads) {
  return std::clamp(2 * threads, 4U, 32U);
}

// The cost of a search of cuts.
struct CutCost {
  std::uint64_t fence_rounds = 0;  // without reading; each a sum over all processes
  std::uint64_t rounds = 0;        // all others
  std::uint64_t sum_bytes = 0;     // of these sums
};

// The cuts of one position: for each run, the elements before it.
using Cuts = std::vector<std::uint64_t>;

// Together, with the same positions: the cuts of each, in ascending order, of this process's runs.
// `total` is the number of elements of all processes together. `threads` threads read blocks and
// search fences, each for one position at a time. Runs take ties in `order`.
// Requires: threads >= 1; counts.slots() is the same in all processes, at least 1; positions are at
// most `total`. Ensures: cuts of a position lie in their runs, not before those of the position in
// front of it, and add up to it over all processes.
// Throws: as RunCounts::count; Error(kCorrupt) when runs are not in order.
[[nodiscard]] std::vector<Cuts> find_cuts(Team& team, RunCounts& counts, std::uint64_t total,
                                          std::span<const std::uint64_t> positions,
                                          unsigned threads, CutCost* cost = nullptr,
                                          const RunOrder& order = {});

}  // namespace gsort::cluster
