// Exact cuts of sorted shares: how many keys each share gives to the first `d` of all, ties to
// lower shares (element/kway_split.hpp), for shares in the memories of several devices. The host
// has the fences of each share, bisects over these, and reads the few blocks of keys that the cut
// may lie in.
//
// Example. Shares 1 4 4 9 | 2 4 8 8 with a fence at every second key, 1 4 | 2 8, d = 4. By the
// fences at most 2 keys are <= 1, at most 4 are <= 2, and at least 4 are <= 4: the key at the cut
// lies in [2, 4], and the cuts in [1, 4] and [0, 2]. There kway_split finds the key 4 and the cuts
// 3 | 1.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// A fence for so many keys of a share of `count`: at most 2^17 fences a share, and few for little.
[[nodiscard]] std::uint64_t fence_step(std::uint64_t count);

// A sorted share on a device, seen from the host.
template <class Key>
class ShareView {
 public:
  // `map` makes ordered keys of `keys`; `fences` are every fence_step(count)th of these. The view
  // owns neither. `stream` is one of the device. Not thread-safe, but several views may be of the
  // same keys.
  ShareView(int ordinal, const Key* keys, std::uint64_t count, std::span<const Key> fences,
            cudaStream_t stream, const KeyMap<Key>& map);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] std::span<const Key> fences() const { return fences_; }

  // An ordered key. Reads the block that holds the key, if it has not been read. Throws:
  // DeviceError.
  [[nodiscard]] Key operator[](std::uint64_t index) const;

 private:
  [[nodiscard]] std::vector<Key> read_block(std::uint64_t block) const;

  int ordinal_;
  const Key* keys_;
  std::uint64_t count_;
  std::uint64_t step_;
  std::span<const Key> fences_;
  cudaStream_t stream_;
  KeyMap<Key> map_;
  mutable std::unordered_map<std::uint64_t, std::vector<Key>> blocks_;
};

// The cut of each share for the first `d` keys. Requires: d is at most the keys of all shares.
// Changes the current device. Throws: DeviceError.
template <class Key>
[[nodiscard]] std::vector<std::uint64_t> cut_shares(std::span<const ShareView<Key>> shares,
                                                    std::uint64_t d);

extern template class ShareView<std::uint32_t>;
extern template class ShareView<std::uint64_t>;
extern template std::vector<std::uint64_t> cut_shares(std::span<const ShareView<std::uint32_t>>,
                                                      std::uint64_t);
extern template std::vector<std::uint64_t> cut_shares(std::span<const ShareView<std::uint64_t>>,
                                                      std::uint64_t);

}  // namespace gsort::gpu
