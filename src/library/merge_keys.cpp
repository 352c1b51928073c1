// Merges two sequences in memory: the output is cut into parts of equal size, the co-rank gives
// each part its slice of both sequences, and the parts are merged on all cores, without a branch a
// key.
#include <algorithm>
#include <functional>
#include <optional>

#include "base/tasks.hpp"
#include "element/co_rank.hpp"
#include "library/key_types.hpp"
#include "library/keys_call.hpp"
#include "library/sort_keys.hpp"
#include "pipeline/survey.hpp"

namespace gsort {
namespace {

// With fewer keys for each core, waking a further core does not pay.
constexpr std::uint64_t kLeastKeysPerCore = std::uint64_t{1} << 15;

// Raw keys, read as ordered ones; equal keys are one number.
template <class Bits>
struct OrderedKeys {
  std::span<const Bits> raw;
  KeyMap<Bits> map;
  Bits operator[](std::uint64_t i) const { return map.to_ordered(raw[i]); }
};

template <class Bits>
void merge_part(std::span<const Bits> a, std::span<const Bits> b, Bits* out, KeyMap<Bits> map) {
  auto next_a = a.begin();
  auto next_b = b.begin();
  while (next_a != a.end() && next_b != b.end()) {
    const bool take_b = map.to_ordered(*next_b) < map.to_ordered(*next_a);
    *out++ = take_b ? *next_b : *next_a;
    next_b += take_b ? 1 : 0;
    next_a += take_b ? 0 : 1;
  }
  std::copy(next_b, b.end(), std::copy(next_a, a.end(), out));
}

template <class Bits>
void merge_all(std::span<const Bits> a, std::span<const Bits> b, std::span<Bits> merged,
               KeyMap<Bits> map, unsigned threads) {
  const OrderedKeys<Bits> ordered_a{a, map};
  const OrderedKeys<Bits> ordered_b{b, map};
  const std::uint64_t total = merged.size();
  const auto cut = [&](std::uint64_t position) {
    return co_rank<std::uint64_t>(position, ordered_a, a.size(), ordered_b, b.size());
  };
  const auto parts =
      static_cast<unsigned>(std::clamp<std::uint64_t>(total / kLeastKeysPerCore, 1, threads));
  TaskArena(parts).for_each(parts, [&](std::size_t part) {
    const std::uint64_t begin = total * part / parts;
    const std::uint64_t end = total * (part + 1) / parts;
    const std::uint64_t a_begin = cut(begin);
    const std::uint64_t a_end = cut(end);
    merge_part(a.subspan(a_begin, a_end - a_begin),
               b.subspan(begin - a_begin, (end - a_end) - (begin - a_begin)), merged.data() + begin,
               map);
  });
}

template <class Key>
bool overlap(std::span<const Key> a, std::span<const Key> b) {
  const std::less<const Key*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

}  // namespace

template <SortableKey Key>
void merge_keys(std::span<const Key> a, std::span<const Key> b, std::span<Key> merged, Order order,
                unsigned threads) {
  using Bits = library::Bits<Key>;
  library::keys_call(threads, "merge_keys", [&] {
    if (merged.size() != a.size() + b.size()) {
      throw Error(ErrorKind::kUsage, "merge_keys", "the result is not as long as both inputs")
          .hint("give room for all keys of both, and no more");
    }
    if (overlap<Key>(a, merged) || overlap<Key>(b, merged)) {
      throw Error(ErrorKind::kUsage, "merge_keys", "the result overlaps an input")
          .hint("use separate memory for the result");
    }
    const unsigned cores = cores_for(threads == 0 ? std::nullopt : std::optional(threads));
    merge_all<Bits>(library::bits_of(a), library::bits_of(b), library::bits_of(merged),
                    KeyMap<Bits>::classes_of(library::format_of<Key>(order)), cores);
  });
}

#define GSORT_INSTANTIATE(type, name, Key, fold)                                              \
  template void merge_keys(std::span<const Key>, std::span<const Key>, std::span<Key>, Order, \
                           unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
