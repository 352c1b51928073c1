// Inputs of the benchmarks: the same as gsort-gen's, made on all cores, in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/request.hpp"
#include "element/key.hpp"
#include "gen/generate.hpp"

namespace gsort::bench {

// Raw keys of `spec`, on `threads` cores. Key is as wide as the spec's type.
template <class Key>
[[nodiscard]] std::vector<Key> make_raw_keys(const GenSpec& spec, unsigned threads);

// The same as ordered keys. `map` is that of the spec's format.
template <class Key>
[[nodiscard]] std::vector<Key> make_ordered_keys(const GenSpec& spec, unsigned threads);

// The request's types, or `types`; and so on.
[[nodiscard]] std::vector<KeyType> types_or(const Request& request,
                                            const std::vector<KeyType>& types);
[[nodiscard]] std::vector<std::uint64_t> elements_or(const Request& request,
                                                     const std::vector<std::uint64_t>& elements);

// Calls f(type, distribution, elements) for each combination that was asked for.
template <class F>
void for_each_combination(const Request& request, const std::vector<KeyType>& types,
                          const std::vector<std::uint64_t>& elements, F&& f) {
  for (const KeyType type : types_or(request, types)) {
    for (const Distribution distribution : request.distributions) {
      for (const std::uint64_t count : elements_or(request, elements)) {
        f(type, distribution, count);
      }
    }
  }
}

// Calls f(Key{}, type, distribution, elements) for each of them, with the unsigned type of each key
// type's width: std::uint32_t or std::uint64_t.
template <class F>
void for_each_input(const Request& request, const std::vector<KeyType>& types,
                    const std::vector<std::uint64_t>& elements, F&& f) {
  for_each_combination(request, types, elements, [&](KeyType type, auto... input) {
    if (bytes_of(type) == 4) {
      f(std::uint32_t{}, type, input...);
    } else {
      f(std::uint64_t{}, type, input...);
    }
  });
}

}  // namespace gsort::bench
