#include "element/member_keys.hpp"

#include <algorithm>
#include <type_traits>

namespace gsort {
namespace {

// With at least this many others for each key, skipping them pays.
constexpr std::size_t kSparse = 8;

template <class Key>
bool are_sparse(std::span<const Key> keys, std::span<const Key> others) {
  return others.size() / kSparse > keys.size();
}

// The first place from `begin` on whose key is not less.
template <class Key>
std::size_t gallop(std::span<const Key> others, std::size_t begin, Key key) {
  std::size_t end = begin;
  for (std::size_t step = 1; end < others.size() && others[end] < key; step *= 2) {
    begin = end + 1;
    end = std::min(others.size(), end + step);
  }
  const auto* const from = others.data();
  return static_cast<std::size_t>(std::lower_bound(from + begin, from + end, key) - from);
}

template <class Key>
std::size_t split_sparse(std::span<const Key> keys, std::span<const Key> others, Stay stay,
                         Key* kept, Key* dropped) {
  std::size_t stayed = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    at = gallop(others, at, key);
    const bool is_member = at < others.size() && others[at] == key;
    kept[stayed] = key;
    dropped[i - stayed] = key;
    stayed += is_member == (stay == Stay::kMembers) ? 1U : 0U;
  }
  return stayed;
}

}  // namespace

template <class Key>
std::size_t split_members(std::span<const Key> keys, std::span<const Key> others, Stay stay,
                          Key* kept, Key* dropped) {
  if (are_sparse(keys, others)) return split_sparse(keys, others, stay, kept, dropped);
  const bool members_stay = stay == Stay::kMembers;
  std::size_t stayed = 0;
  std::size_t i = 0;
  std::size_t at = 0;
  while (i < keys.size() && at < others.size()) {
    const Key key = keys[i];
    const Key other = others[at];
    const bool is_known = key <= other;
    const bool stays = (key == other) == members_stay;
    kept[stayed] = key;
    dropped[i - stayed] = key;
    stayed += static_cast<std::size_t>(is_known) & static_cast<std::size_t>(stays);
    i += is_known ? 1U : 0U;
    at += is_known ? 0 : 1;
  }
  const std::span<const Key> rest = keys.subspan(i);  // behind all others
  if (members_stay) {
    std::copy(rest.begin(), rest.end(), dropped + (i - stayed));
    return stayed;
  }
  std::copy(rest.begin(), rest.end(), kept + stayed);
  return stayed + rest.size();
}

// Wide enough for keys to differ in it; narrow ones are added faster.
template <class Key>
using Sum = std::conditional_t<kIsWide<Key>, UInt128, std::uint64_t>;

template <class Key>
KeySum sum_keys(std::span<const Key> keys) {
  Sum<Key> sum = 0;
  for (const Key key : keys) sum += key;
  return {keys.size(), sum};
}

template <class Key>
KeySum sum_members(std::span<const Key> keys, std::span<const Key> others) {
  std::uint64_t count = 0;
  Sum<Key> sum = 0;
  const auto add = [&](Key key, bool is_member) {
    count += is_member ? 1U : 0U;
    sum += is_member ? key : Key{0};
  };
  if (are_sparse(keys, others)) {
    auto at = others.begin();
    for (const Key key : keys) {
      at = std::lower_bound(at, others.end(), key);
      add(key, at != others.end() && *at == key);
    }
    return {count, sum};
  }
  std::size_t i = 0;
  std::size_t at = 0;
  while (i < keys.size() && at < others.size()) {
    const Key key = keys[i];
    const Key other = others[at];
    add(key, key == other);
    i += key <= other ? 1U : 0U;
    at += other <= key ? 1U : 0U;
  }
  return {count, sum};
}

#define GSORT_MEMBERS_OF(Key)                                                                \
  template std::size_t split_members(std::span<const Key>, std::span<const Key>, Stay, Key*, \
                                     Key*);                                                  \
  template KeySum sum_keys(std::span<const Key>);                                            \
  template KeySum sum_members(std::span<const Key>, std::span<const Key>);
GSORT_MEMBERS_OF(std::uint8_t)
GSORT_MEMBERS_OF(std::uint16_t)
GSORT_MEMBERS_OF(std::uint32_t)
GSORT_MEMBERS_OF(std::uint64_t)
GSORT_MEMBERS_OF(UInt128)
#undef GSORT_MEMBERS_OF

}  // namespace gsort
