// OrderLedger: keeps the first and last key of each stretch, joins neighbours, and finds two that
// are out of order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace gsort {

// The wanted order: with equal neighbours, or without.
enum class OrderKind : std::uint8_t { kAscending, kStrict };

// Value: a normalised key, or more of an element, in the wanted order. Not thread-safe.
template <class Value>
class OrderLedger {
 public:
  static constexpr std::uint64_t kInOrder = ~std::uint64_t{0};

  explicit OrderLedger(OrderKind kind = OrderKind::kAscending) : kind_(kind) {}

  // A stretch that ends before `end`, with its first and its last key.
  struct Stretch {
    std::uint64_t end;
    Value first;
    Value last;

    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;  // by their beginnings

  // Two neighbours that are out of order: the key at `position`, and the one before it.
  struct Disorder {
    std::uint64_t position;
    Value before;
    Value value;
  };

  // Adds a stretch [begin, end) whose keys run from `first` to `last`. Returns the position of a
  // key at its borders that comes before its predecessor; kInOrder if there is none.
  std::uint64_t add(std::uint64_t begin, std::uint64_t end, Value first, Value last) {
    Stretch joined{end, std::move(first), std::move(last)};
    std::uint64_t joined_begin = begin;
    std::uint64_t wrong = kInOrder;
    const auto after = stretches_.find(end);
    if (after != stretches_.end()) {
      wrong = compare(end, joined.last, after->second.first);
      joined.end = after->second.end;
      joined.last = std::move(after->second.last);
      stretches_.erase(after);
    }
    auto before = stretches_.lower_bound(begin);
    if (before != stretches_.begin() && (--before)->second.end == begin) {
      wrong = std::min(wrong, compare(begin, before->second.last, joined.first));
      joined_begin = before->first;
      joined.first = std::move(before->second.first);
      stretches_.erase(before);
    }
    stretches_.emplace(joined_begin, std::move(joined));
    return wrong;
  }

  // The disorder with the lowest position that was found at a border.
  [[nodiscard]] const std::optional<Disorder>& disorder() const { return disorder_; }

  // The stretches that were added, neighbours joined.
  [[nodiscard]] const Stretches& stretches() const { return stretches_; }

  // The last key of the stretch with the highest position; none before the first stretch.
  [[nodiscard]] std::optional<Value> last_key() const {
    if (stretches_.empty()) return std::nullopt;
    return stretches_.rbegin()->second.last;
  }

  // The number of borders between stretches with equal keys.
  [[nodiscard]] std::uint64_t equal_borders() const { return equal_borders_; }

 private:
  std::uint64_t compare(std::uint64_t position, const Value& before, const Value& value) {
    if (value == before) ++equal_borders_;
    const bool repeats = kind_ == OrderKind::kStrict && value == before;
    if (!(value < before) && !repeats) return kInOrder;
    if (!disorder_ || position < disorder_->position) disorder_ = {position, before, value};
    return position;
  }

  OrderKind kind_;
  Stretches stretches_;
  std::optional<Disorder> disorder_;
  std::uint64_t equal_borders_ = 0;
};

}  // namespace gsort
