// See inputs.hpp.
#include "bench/inputs.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "base/parallel.hpp"
#include "element/key_loops.hpp"

namespace gsort::bench {
namespace {

constexpr std::uint64_t kStretch = std::uint64_t{1} << 18;

template <class Key>
std::vector<Key> make_keys(const GenSpec& spec, unsigned threads, bool maps) {
  std::vector<Key> keys(spec.count);
  const auto map = KeyMap<Key>::of(spec.format);
  std::atomic<std::uint64_t> next{0};
  run_workers(threads, [&](unsigned) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(kStretch);
      if (begin >= spec.count) return;
      const std::uint64_t count = std::min(kStretch, spec.count - begin);
      const std::span<Key> stretch(keys.data() + begin, count);
      generate(spec, begin, std::as_writable_bytes(stretch));
      if (maps) map_to_ordered<Key>(stretch, stretch, map);
    }
  });
  return keys;
}

}  // namespace

template <class Key>
std::vector<Key> make_raw_keys(const GenSpec& spec, unsigned threads) {
  return make_keys<Key>(spec, threads, false);
}

template <class Key>
std::vector<Key> make_ordered_keys(const GenSpec& spec, unsigned threads) {
  return make_keys<Key>(spec, threads, true);
}

std::vector<KeyType> types_or(const Request& request, const std::vector<KeyType>& types) {
  return request.types.empty() ? types : request.types;
}

std::vector<std::uint64_t> elements_or(const Request& request,
                                       const std::vector<std::uint64_t>& elements) {
  return request.elements.empty() ? elements : request.elements;
}

template std::vector<std::uint32_t> make_raw_keys(const GenSpec&, unsigned);
template std::vector<std::uint64_t> make_raw_keys(const GenSpec&, unsigned);
template std::vector<std::uint32_t> make_ordered_keys(const GenSpec&, unsigned);
template std::vector<std::uint64_t> make_ordered_keys(const GenSpec&, unsigned);

}  // namespace gsort::bench
