// sample_sort: sorting over several machines, each with keys of its own.
//
// Problem. Keys lie on M machines. In the end machine 0 shall hold the least of them, sorted,
// machine 1 the next, and so on. Sending keys is dear: each should travel at most once.
//
// Idea. If M - 1 splitters were known that divide all keys into M equal ranges, each machine
// could send every key straight to the machine that will hold it. Good splitters are guessed from
// a sample: each machine draws s keys at random; the M s keys together are sorted, and every s-th
// is a splitter. Four steps: sample, choose splitters, exchange, sort locally. The larger s
// (oversampling), the more even the ranges: with s about 8 ln(n), none is twice the average but
// with vanishing probability.
//
// Equal keys would all go to one machine. So a key is compared together with its position, (key,
// where it lay), of which no two are equal; a key that fills half of the input is then divided
// like any other.
//
// Example. Three machines, s = 2:  4 1 9 | 5 5 5 | 2 8 7
//   samples (with positions): 4@0 9@2 | 5@3 5@5 | 2@6 7@8, sorted: 2@6 4@0 5@3 5@5 7@8 9@2
//   splitters: every second but the first: 5@3 and 7@8
//   exchange: machine 0 gets 4 1 2 (less than 5@3), machine 2 gets 9 8 7 (not less than 7@8)
//   local sort: 1 2 4 | 5 5 5 | 7 8 9
//
// Here a machine is a host thread and sending is copying memory; the splitters and the exchange
// are what any network would do. gsort does not sample: its splits are exact
// (element/kway_split.hpp).
//
// Cost. One exchange of n keys, M s log(M s) for the splitters, and local sorts of n / M keys, of
// which the largest decides.
//
// Source. W. D. Frazer, A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree
// sorting", J. ACM 17(3), 1970, doi:10.1145/321592.321600; oversampling: G. E. Blelloch et al.,
// "A comparison of sorting algorithms for the Connection Machine CM-2", SPAA 1991,
// doi:10.1145/113379.113380.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace gsort::textbook {

// A key and where it lay among all keys: no two are equal.
template <class Key>
struct PlacedKey {
  Key key;
  std::uint64_t position;

  friend constexpr bool operator<(const PlacedKey& x, const PlacedKey& y) {
    return x.key < y.key || (!(y.key < x.key) && x.position < y.position);
  }
};

// Splitters that divide what `samples` was drawn from into `machines` ranges of about the same
// size; fewer than machines - 1 if there are too few samples.
template <class Key>
[[nodiscard]] std::vector<PlacedKey<Key>> choose_splitters(std::vector<PlacedKey<Key>> samples,
                                                           std::size_t machines) {
  std::sort(samples.begin(), samples.end());
  std::vector<PlacedKey<Key>> splitters;
  for (std::size_t m = 1; m < machines && !samples.empty(); ++m) {
    splitters.push_back(samples[m * samples.size() / machines]);
  }
  return splitters;
}

// The machine that shall hold `key`: as many splitters as are not greater.
template <class Key>
[[nodiscard]] std::size_t machine_of(const PlacedKey<Key>& key,
                                     std::span<const PlacedKey<Key>> splitters) {
  return static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), key) -
                                  splitters.begin());
}

// The samples of a machine: `wanted` of its keys, each at a random place of a stretch of its own.
// `position` is that of its first key.
template <class Key>
[[nodiscard]] std::vector<PlacedKey<Key>> draw_samples(std::span<const Key> keys,
                                                       std::uint64_t position, std::size_t wanted,
                                                       std::uint64_t seed) {
  std::mt19937_64 random(seed ^ position);
  std::vector<PlacedKey<Key>> samples;
  wanted = std::min(wanted, keys.size());
  for (std::size_t s = 0; s < wanted; ++s) {
    const std::size_t begin = s * keys.size() / wanted;
    const std::size_t end = (s + 1) * keys.size() / wanted;
    const std::size_t at = begin + random() % (end - begin);
    samples.push_back({keys[at], position + at});
  }
  return samples;
}

// Sorts the keys of all machines, so that machines[0], machines[1], ... one behind the other are
// sorted. Each machine runs on a worker of its own and sorts by `local_sort(begin, end)`. Throws:
// what local_sort throws, and std::bad_alloc; the keys are lost then.
template <class Key, class LocalSort>
void sample_sort(std::vector<std::vector<Key>>& machines, std::size_t oversampling,
                 std::uint64_t seed, const LocalSort& local_sort) {
  const std::size_t count = machines.size();
  std::vector<std::uint64_t> positions(count + 1, 0);
  for (std::size_t m = 0; m < count; ++m) positions[m + 1] = positions[m] + machines[m].size();

  std::vector<PlacedKey<Key>> samples;
  for (std::size_t m = 0; m < count; ++m) {
    const auto drawn = draw_samples<Key>(machines[m], positions[m], oversampling, seed);
    samples.insert(samples.end(), drawn.begin(), drawn.end());
  }
  const auto splitters = choose_splitters(std::move(samples), count);

  // sent[from][to]: what machine `from` sends to machine `to`.
  std::vector<std::vector<std::vector<Key>>> sent(count, std::vector<std::vector<Key>>(count));
  const auto workers = static_cast<unsigned>(count);
  run_workers(workers, [&](unsigned from) {
    if (from >= count) return;
    const std::vector<Key> keys = std::move(machines[from]);
    for (std::vector<Key>& message : sent[from]) message.reserve(keys.size() / count * 9 / 8);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      sent[from][machine_of<Key>({keys[i], positions[from] + i}, splitters)].push_back(keys[i]);
    }
  });
  run_workers(workers, [&](unsigned to) {
    if (to >= count) return;
    std::vector<Key>& keys = machines[to];
    keys.clear();
    for (std::size_t from = 0; from < count; ++from) {
      keys.insert(keys.end(), sent[from][to].begin(), sent[from][to].end());
    }
    local_sort(keys.begin(), keys.end());
  });
}

}  // namespace gsort::textbook
