#include "gpu/shares/share_cuts.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "element/kway_split.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "reading sorted keys from a device";

// Bounds on the number of keys <= value in a share, from its fences.
struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

template <class Key>
Bounds bounds_up_to(const ShareView<Key>& share, Key value) {
  const std::span<const Key> fences = share.fences();
  const auto behind = std::ranges::upper_bound(fences, value);
  const auto number = static_cast<std::uint64_t>(behind - fences.begin());
  if (number == 0) return {0, 0};
  return {(number - 1) * share.step() + 1, std::min(number * share.step(), share.count())};
}

template <class Key>
Bounds bounds_of_all(std::span<const ShareView<Key>> shares, Key value) {
  Bounds all;
  for (const ShareView<Key>& share : shares) {
    const Bounds one = bounds_up_to(share, value);
    all.least += one.least;
    all.most += one.most;
  }
  return all;
}

// The least value of which `is_enough` says that it is; the largest of all keys if none is.
template <class Key, class IsEnough>
Key least_value(const IsEnough& is_enough) {
  Key low = 0;
  Key high = std::numeric_limits<Key>::max();
  while (low < high) {
    const Key middle = static_cast<Key>(low + (high - low) / 2);
    if (is_enough(middle)) {
      high = middle;
    } else {
      low = static_cast<Key>(middle + 1);
    }
  }
  return low;
}

}  // namespace

std::uint64_t fence_step(std::uint64_t count) {
  constexpr std::uint64_t kLeastStep = 64;
  constexpr unsigned kMostFencesLog = 17;
  return std::max(kLeastStep, std::bit_ceil(count >> kMostFencesLog) * 2);
}

template <class Key>
ShareView<Key>::ShareView(int ordinal, const Key* keys, std::uint64_t count,
                          std::span<const Key> fences, cudaStream_t stream, const KeyMap<Key>& map)
    : ordinal_(ordinal),
      keys_(keys),
      count_(count),
      step_(fence_step(count)),
      fences_(fences),
      stream_(stream),
      map_(map) {}

template <class Key>
Key ShareView<Key>::operator[](std::uint64_t index) const {
  const std::uint64_t block = index / step_;
  auto found = blocks_.find(block);
  if (found == blocks_.end()) found = blocks_.emplace(block, read_block(block)).first;
  return found->second[index % step_];
}

template <class Key>
std::vector<Key> ShareView<Key>::read_block(std::uint64_t block) const {
  const std::uint64_t begin = block * step_;
  std::vector<Key> keys(std::min(step_, count_ - begin));
  use_device(ordinal_);
  check_cuda(cudaMemcpyAsync(keys.data(), keys_ + begin, keys.size() * sizeof(Key),
                             cudaMemcpyDeviceToHost, stream_),
             CudaCall::kCopy, kOperation);
  check_cuda(cudaStreamSynchronize(stream_), CudaCall::kStream, kOperation);
  for (Key& key : keys) key = map_.to_ordered(key);
  return keys;
}

template <class Key>
std::vector<std::uint64_t> cut_shares(std::span<const ShareView<Key>> shares, std::uint64_t d) {
  if (d == 0) return std::vector<std::uint64_t>(shares.size(), 0);
  const Key value_low =
      least_value<Key>([&](Key value) { return bounds_of_all(shares, value).most >= d; });
  const Key value_high =
      least_value<Key>([&](Key value) { return bounds_of_all(shares, value).least >= d; });
  std::vector<std::uint64_t> low;
  std::vector<std::uint64_t> high;
  for (const ShareView<Key>& share : shares) {
    low.push_back(value_low == 0 ? 0 : bounds_up_to(share, static_cast<Key>(value_low - 1)).least);
    high.push_back(bounds_up_to(share, value_high).most);
  }
  std::vector<std::uint64_t> probe(shares.size());
  const auto count_all = [&](Key value, const std::uint64_t* from, const std::uint64_t* to,
                             std::uint64_t* counts) {
    for (std::size_t share = 0; share < shares.size(); ++share) {
      counts[share] = upper_bound_in(shares[share], from[share], to[share], value);
    }
  };
  kway_split<Key, std::uint64_t>(d, static_cast<std::uint32_t>(shares.size()), value_low,
                                 value_high, low.data(), high.data(), probe.data(), count_all);
  return low;
}

template class ShareView<std::uint32_t>;
template class ShareView<std::uint64_t>;
template std::vector<std::uint64_t> cut_shares(std::span<const ShareView<std::uint32_t>>,
                                               std::uint64_t);
template std::vector<std::uint64_t> cut_shares(std::span<const ShareView<std::uint64_t>>,
                                               std::uint64_t);

}  // namespace gsort::gpu
