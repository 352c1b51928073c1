// Inputs of the benchmarks: what gsort-gen makes, on all cores, straight into memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/key.hpp"
#include "bench/request.hpp"
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

// Calls f(Key{}, type, distribution, elements) for each combination that was asked for, with the
// unsigned type of each key type's width: std::uint32_t or std::uint64_t.
template <class F>
void for_each_input(const Request& request, const std::vector<KeyType>& types,
                    const std::vector<std::uint64_t>& elements, F&& f) {
  for (const KeyType type : types_or(request, types)) {
    for (const Distribution distribution : request.distributions) {
      for (const std::uint64_t count : elements_or(request, elements)) {
        if (bytes_of(type) == 4) {
          f(std::uint32_t{}, type, distribution, count);
        } else {
          f(std::uint64_t{}, type, distribution, count);
        }
      }
    }
  }
}

extern template std::vector<std::uint32_t> make_raw_keys(const GenSpec&, unsigned);
extern template std::vector<std::uint64_t> make_raw_keys(const GenSpec&, unsigned);
extern template std::vector<std::uint32_t> make_ordered_keys(const GenSpec&, unsigned);
extern template std::vector<std::uint64_t> make_ordered_keys(const GenSpec&, unsigned);

}  // namespace gsort::bench
