// Merges two sequences in memory: the output is cut into parts of equal size, the co-rank gives
// each part its slices of both sequences, and each core takes parts until none is left. A part is
// cut once more, into stretches that are merged in turn, key by key: without a branch, a key waits
// for the one before it in its stretch, but not for those of the other stretches. When one side of
// a stretch is used up, the rest is copied, and half of another stretch takes its place.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "base/tasks.hpp"
#include "element/co_rank.hpp"
#include "library/key_types.hpp"
#include "library/keys_call.hpp"
#include "library/sort_keys.hpp"

namespace gsort {
namespace {

// With fewer keys for each core, waking a further core does not pay.
constexpr std::uint64_t kLeastPartKeys = std::uint64_t{1} << 15;
constexpr std::uint64_t kPartsPerCore = 16;   // so that no core waits long for a slow one
constexpr std::size_t kStretches = 4;         // of a part
constexpr std::ptrdiff_t kWorthHalving = 64;  // keys that a stretch has left

// Maps raw keys to ordered ones; equal keys become one number. All but `flip` is known to the
// compiler.
template <class Key, bool kIsTotal>
struct Ordering {
  using Bits = library::Bits<Key>;
  static constexpr KeyMap<Bits> kAscending = KeyMap<Bits>::classes_of(
      library::format_of<Key>(kIsTotal ? Order::kAscendingTotal : Order::kAscending));
  Bits flip;

  Bits operator()(Bits raw) const { return static_cast<Bits>(kAscending.to_ordered(raw) ^ flip); }
};

template <class Bits, class Ordering>
struct OrderedKeys {
  std::span<const Bits> raw;
  Ordering ordered;
  Bits operator[](std::uint64_t i) const { return ordered(raw[i]); }
};

// The keys of a stretch that are left.
template <class Bits>
struct Stretch {
  const Bits* a;
  const Bits* a_end;
  const Bits* b;
  const Bits* b_end;
  Bits* out;

  // This many keys can be taken without a check: after fewer, neither `a` nor `b` is empty.
  [[nodiscard]] std::ptrdiff_t least_left() const { return std::min(a_end - a, b_end - b); }

  // Requires: least_left() > 0.
  template <class Ordering>
  void take_one(const Ordering& ordered) {
    const Bits from_a = *a;
    const Bits from_b = *b;
    const std::size_t takes_b = ordered(from_b) < ordered(from_a) ? 1 : 0;
    // By a mask: compilers make a branch of a choice, and half of its predictions are wrong.
    const auto differences = static_cast<Bits>(from_a ^ from_b);
    *out++ = static_cast<Bits>(from_a ^ (differences & static_cast<Bits>(0 - takes_b)));
    b += takes_b;
    a += 1 - takes_b;
  }

  // Requires: `a` or `b` is empty.
  void copy_rest() {
    out = std::copy(b, b_end, std::copy(a, a_end, out));
    a = a_end;
    b = b_end;
  }

  // Keeps the first half of the keys; returns the others.
  template <class Ordering>
  [[nodiscard]] Stretch take_half(const Ordering& ordered) {
    const OrderedKeys<Bits, Ordering> all_a{{a, a_end}, ordered};
    const OrderedKeys<Bits, Ordering> all_b{{b, b_end}, ordered};
    const std::uint64_t half = (all_a.raw.size() + all_b.raw.size()) / 2;
    const auto from_a =
        co_rank<std::uint64_t>(half, all_a, all_a.raw.size(), all_b, all_b.raw.size());
    const Stretch rest{a + from_a, a_end, b + (half - from_a), b_end, out + half};
    a_end = rest.a;
    b_end = rest.b;
    return rest;
  }
};

template <class Bits>
using Stretches = std::array<Stretch<Bits>, kStretches>;

// Gives each stretch that is used up half of the longest one. Returns false if that is too short.
template <class Bits, class Ordering>
bool replace_used_up(Stretches<Bits>& stretches, const Ordering& ordered) {
  for (;;) {
    const auto has_fewer = [](const auto& x, const auto& y) {
      return x.least_left() < y.least_left();
    };
    const auto [least, most] = std::minmax_element(stretches.begin(), stretches.end(), has_fewer);
    if (least->least_left() > 0) return true;
    least->copy_rest();
    if (most->least_left() < kWorthHalving) return false;
    *least = most->take_half(ordered);
  }
}

template <class Bits, class Ordering>
void merge_in_turn(Stretches<Bits>& stretches, const Ordering& ordered) {
  while (replace_used_up(stretches, ordered)) {
    auto left = std::numeric_limits<std::ptrdiff_t>::max();
    for (const Stretch<Bits>& stretch : stretches) left = std::min(left, stretch.least_left());
    Stretches<Bits> now = stretches;  // in registers
    for (; left > 0; --left) {
      for (Stretch<Bits>& stretch : now) stretch.take_one(ordered);
    }
    stretches = now;
  }
  for (Stretch<Bits> stretch : stretches) {
    while (stretch.least_left() > 0) stretch.take_one(ordered);
    stretch.copy_rest();
  }
}

template <class Bits, class Ordering>
void merge_all(std::span<const Bits> a, std::span<const Bits> b, std::span<Bits> merged,
               const Ordering& ordered, unsigned cores) {
  const OrderedKeys<Bits, Ordering> ordered_a{a, ordered};
  const OrderedKeys<Bits, Ordering> ordered_b{b, ordered};
  const std::uint64_t most_parts = std::max<std::uint64_t>(merged.size() / kLeastPartKeys, 1);
  const std::uint64_t workers = std::min<std::uint64_t>(most_parts, cores);
  const std::uint64_t parts = std::min(most_parts, workers * kPartsPerCore);
  const auto position_of = [&](std::uint64_t stretch) {
    return merged.size() * stretch / (parts * kStretches);
  };
  std::vector<std::uint64_t> cuts_of_a(parts * kStretches + 1, a.size());  // where stretches begin
  const auto cut = [&](std::size_t part) {
    for (std::size_t i = part * kStretches; i < (part + 1) * kStretches; ++i) {
      cuts_of_a[i] =
          co_rank<std::uint64_t>(position_of(i), ordered_a, a.size(), ordered_b, b.size());
    }
  };
  const auto merge_part = [&](std::size_t part) {
    Stretches<Bits> stretches;
    for (std::size_t i = 0; i < kStretches; ++i) {
      const std::size_t number = part * kStretches + i;
      const std::uint64_t begin = position_of(number);
      const std::uint64_t end = position_of(number + 1);
      const std::uint64_t a_begin = cuts_of_a[number];
      const std::uint64_t a_end = cuts_of_a[number + 1];
      stretches[i] = {a.data() + a_begin, a.data() + a_end, b.data() + (begin - a_begin),
                      b.data() + (end - a_end), merged.data() + begin};
    }
    merge_in_turn(stretches, ordered);
  };
  TaskArena tasks(static_cast<unsigned>(workers));
  tasks.for_each(parts, std::cref(cut));
  // If the keys are not in order, the cuts may not be, either.
  for (std::size_t i = 1; i < cuts_of_a.size(); ++i) {
    const std::uint64_t before = cuts_of_a[i - 1];
    const std::uint64_t keys = position_of(i) - position_of(i - 1);
    cuts_of_a[i] = std::clamp(cuts_of_a[i], before, before + keys);
  }
  tasks.for_each(parts, std::cref(merge_part));
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
    const unsigned cores = library::cores_for_bytes(merged.size_bytes(), threads);
    const KeyFormat format = library::format_of<Key>(order);
    const Bits flip = format.descending ? static_cast<Bits>(~Bits{0}) : Bits{0};
    const auto merge_by = [&](const auto& ordered) {
      merge_all<Bits>(library::bits_of(a), library::bits_of(b), library::bits_of(merged), ordered,
                      cores);
    };
    if (format.float_order == FloatOrder::kTotal) return merge_by(Ordering<Key, true>{flip});
    merge_by(Ordering<Key, false>{flip});
  });
}

#define GSORT_INSTANTIATE(type, name, Key, fold)                                              \
  template void merge_keys(std::span<const Key>, std::span<const Key>, std::span<Key>, Order, \
                           unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
