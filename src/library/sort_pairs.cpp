#include "library/sort_pairs.hpp"

#include <limits>
#include <string>

#include "engine/cpu/pairs/pair_sort.hpp"
#include "io/system/scratch.hpp"
#include "library/key_types.hpp"
#include "library/keys_call.hpp"

namespace gsort {
namespace {

using library::Bits;

void require_as_many(std::size_t keys, std::size_t others, const char* call, const char* names) {
  if (keys == others) return;
  throw Error(ErrorKind::kUsage, call, std::string("there are not as many ") + names + " as keys")
      .hint("give spans of one length");
}

// Calls sort(map, threads, scratch).
template <class Key, class Value, class F>
void with_scratch(std::size_t count, Order order, unsigned threads, const F& sort) {
  const std::size_t bytes = count * (sizeof(Key) + sizeof(Value));
  const unsigned cores = library::cores_for_bytes(bytes, threads);
  const io::Scratch scratch(cpu::pairs_scratch_bytes<Bits<Key>, Value>(count), "sorting pairs");
  sort(KeyMap<Bits<Key>>::classes_of(library::format_of<Key>(order)), cores, scratch.bytes());
}

}  // namespace

template <SortableKey Key, PairWord Value>
void sort_pairs(std::span<Key> keys, std::span<Value> values, Order order, unsigned threads) {
  library::keys_call(threads, "sort_pairs", [&] {
    require_as_many(keys.size(), values.size(), "sort_pairs", "values");
    with_scratch<Key, Value>(keys.size(), order, threads,
                             [&](const auto& classes, unsigned cores, ByteSpan scratch) {
                               cpu::sort_pairs<Bits<Key>, Value>(library::bits_of(keys), values,
                                                                 classes, cores, scratch);
                             });
  });
}

template <SortableKey Key, PairIndex Index>
void argsort_keys(std::span<const Key> keys, std::span<Index> indices, Order order,
                  unsigned threads) {
  using Word = WordOf<Index>;
  library::keys_call(threads, "argsort_keys", [&] {
    require_as_many(keys.size(), indices.size(), "argsort_keys", "indices");
    if (!keys.empty() && keys.size() - 1 > std::uint64_t{std::numeric_limits<Index>::max()}) {
      throw Error(ErrorKind::kUsage, "argsort_keys", "the type of the indices is too narrow")
          .hint("use 64-bit indices");
    }
    const std::span<Word> words(reinterpret_cast<Word*>(indices.data()), indices.size());
    with_scratch<Key, Word>(keys.size(), order, threads,
                            [&](const auto& classes, unsigned cores, ByteSpan scratch) {
                              cpu::argsort_keys<Bits<Key>, Word>(library::bits_of(keys), words,
                                                                 classes, cores, scratch);
                            });
  });
}

#define GSORT_INSTANTIATE(type, name, Key, fold)                                               \
  template void sort_pairs(std::span<Key>, std::span<std::uint32_t>, Order, unsigned);         \
  template void sort_pairs(std::span<Key>, std::span<std::uint64_t>, Order, unsigned);         \
  template void argsort_keys(std::span<const Key>, std::span<std::uint32_t>, Order, unsigned); \
  template void argsort_keys(std::span<const Key>, std::span<std::uint64_t>, Order, unsigned); \
  template void argsort_keys(std::span<const Key>, std::span<std::int32_t>, Order, unsigned);  \
  template void argsort_keys(std::span<const Key>, std::span<std::int64_t>, Order, unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
