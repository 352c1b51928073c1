// BucketTree: finds the bucket of a key by a search among the bounds between buckets.
//
// The bounds lie in a tree whose nodes are a cache line each, so 16 bounds of 32 bits or 8 of 64
// bits. A node's bounds are compared with a key at once, and the number of those that are not above
// the key says which child is next; at the last level it is the bucket. The cost does not depend on
// the keys, because no branch depends on them.
//
// Example. Nodes of 2 bounds (three children), bounds 10 20 30 40 50 60 70 80:
//   root 30 60; children 10 20, 40 50, 70 80
//   key 45: one bound of the root is not above it -> child 1; one of 40 50 -> bucket 1 * 3 + 1 = 4
//
// Source: Slingerland, "Static B-trees" (algorithmica.org/en/b-tree), for sets of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "element/element.hpp"

namespace gsort::cpu {

template <class Key>
class BucketTree {
 public:
  BucketTree() = default;

  // Bucket b holds the keys in [bounds[b - 1], bounds[b]). Requires: bounds are in ascending order,
  // equal ones allowed; fewer than 65535.
  explicit BucketTree(std::span<const Key> bounds);

  [[nodiscard]] bool is_empty() const { return nodes_.empty(); }

  // Writes the bucket of each key to numbers[0, keys.size()).
  void number(std::span<const Key> keys, std::uint16_t* numbers) const;

  [[nodiscard]] std::uint16_t operator()(Key key) const {
    std::uint16_t number = 0;
    this->number({&key, 1}, &number);
    return number;
  }

 private:
  static constexpr std::size_t kBounds = 64 / sizeof(Key);
  struct alignas(64) Node {
    Key bounds[kBounds];
  };

  std::vector<Node> nodes_;  // level by level
  unsigned levels_ = 0;
  std::size_t last_ = 0;  // the last bucket
};

extern template class BucketTree<std::uint32_t>;
extern template class BucketTree<std::uint64_t>;
extern template class BucketTree<UInt128>;

}  // namespace gsort::cpu
