#include "gpu/shares/shares_sort.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/shares/fences.hpp"
#include "gpu/shares/peer_access.hpp"
#include "gpu/shares/share_cuts.hpp"
#include "gpu/sort/arriving_keys.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting on several GPUs";

// The calling thread's device is the same again when this ends.
class KeptDevice {
 public:
  KeptDevice() : ordinal_(current_ordinal()) {}
  ~KeptDevice() {
    if (ordinal_) return_to_device(*ordinal_);
  }
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 private:
  std::optional<int> ordinal_;
};

// A stream that is destroyed where it was made, when its work is done.
class StreamOf {
 public:
  explicit StreamOf(int ordinal) : ordinal_(ordinal) {
    use_device(ordinal);
    stream_.emplace();
  }
  StreamOf(StreamOf&&) noexcept = default;
  StreamOf& operator=(StreamOf&&) = delete;
  ~StreamOf() {
    return_to_device(ordinal_);
    if (stream_->get() != nullptr) static_cast<void>(cudaStreamSynchronize(stream_->get()));
  }
  [[nodiscard]] cudaStream_t get() const { return stream_->get(); }
  void wait() const { stream_->wait(kOperation); }

 private:
  int ordinal_;
  std::optional<Stream> stream_;
};

// One share, and the memory for it.
template <class Key>
struct Place {
  int ordinal = 0;
  std::uint64_t count = 0;
  Key* sorted = nullptr;   // the share in order, then the device's part of the result
  Key* arrived = nullptr;  // the slices of that part
  ScratchMemory others{};  // for fences and merging
};

template <class Key>
std::size_t others_bytes(std::uint64_t count, std::uint32_t shares) {
  const std::uint64_t fences = div_up(count, fence_step(count));
  return std::max<std::size_t>(merge_slices_scratch_bytes<Key>(count, shares),
                               fences * sizeof(Key));
}

// The phases of a sort. Each begins when the one before has ended on all devices.
template <class Key>
class SharesSort {
 public:
  explicit SharesSort(std::vector<Place<Key>> places) : places_(std::move(places)) {
    std::vector<int> ordinals;
    for (const Place<Key>& place : places_) {
      ordinals.push_back(place.ordinal);
      streams_.emplace_back(place.ordinal);
    }
    allow_peer_access(ordinals);
  }

  // Calls work(place, stream) with the place's device current, for all places at once, and waits
  // for the streams.
  void on_each(const std::function<void(std::size_t number, cudaStream_t stream)>& work) {
    run_workers(static_cast<unsigned>(places_.size()), [&](unsigned number) {
      if (places_[number].count == 0) return;
      use_device(places_[number].ordinal);
      try {
        work(number, streams_[number].get());
        streams_[number].wait();
      } catch (...) {
        static_cast<void>(cudaDeviceSynchronize());  // copies may be under way on other streams
        throw;
      }
    });
  }

  [[nodiscard]] Place<Key>& operator[](std::size_t number) { return places_[number]; }

  // Of sorted shares, makes parts of the sorted sequence.
  void exchange(const KeyMap<Key>& store_map,
                const std::function<void(std::size_t number, cudaStream_t stream)>& then) {
    find_cuts();
    on_each([&](std::size_t number, cudaStream_t stream) { fetch_slices(number, stream); });
    on_each([&](std::size_t number, cudaStream_t stream) {
      const Place<Key>& place = places_[number];
      const std::vector<std::uint64_t> counts = slice_counts(number);
      merge_slices<Key>({.input = place.arrived,
                         .slice_counts = counts.data(),
                         .slice_count = static_cast<std::uint32_t>(counts.size()),
                         .output = place.sorted,
                         .store_map = store_map,
                         .scratch = place.others,
                         .stream = stream});
      then(number, stream);
    });
  }

 private:
  void find_cuts() {
    std::vector<std::vector<Key>> fences(places_.size());
    on_each([&](std::size_t number, cudaStream_t stream) {
      fences[number] = fences_of(places_[number], stream);
    });
    std::vector<ShareView<Key>> views;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place<Key>& place = places_[i];
      views.emplace_back(place.ordinal, place.sorted, place.count, std::move(fences[i]),
                         streams_[i].get());
    }
    std::uint64_t position = 0;
    cuts_.push_back(cut_shares<Key>(views, 0));
    for (const Place<Key>& place : places_) {
      position += place.count;
      cuts_.push_back(cut_shares<Key>(views, position));
    }
  }

  std::vector<Key> fences_of(const Place<Key>& place, cudaStream_t stream) const {
    const std::uint64_t step = fence_step(place.count);
    std::vector<Key> fences(div_up(place.count, step));
    auto* const on_device = static_cast<Key*>(place.others.memory);
    launch_fences(place.sorted, place.count, step, on_device, stream);
    check_cuda(cudaMemcpyAsync(fences.data(), on_device, fences.size() * sizeof(Key),
                               cudaMemcpyDeviceToHost, stream),
               CudaCall::kCopy, kOperation);
    check_cuda(cudaStreamSynchronize(stream), CudaCall::kStream, kOperation);
    return fences;
  }

  [[nodiscard]] std::vector<std::uint64_t> slice_counts(std::size_t part) const {
    std::vector<std::uint64_t> counts(places_.size());
    for (std::size_t share = 0; share < counts.size(); ++share) {
      counts[share] = cuts_[part + 1][share] - cuts_[part][share];
    }
    return counts;
  }

  // Devices begin with different shares, so that they do not all wait for the same link.
  void fetch_slices(std::size_t part, cudaStream_t stream) {
    const std::vector<std::uint64_t> counts = slice_counts(part);
    for (std::size_t turn = 0; turn < counts.size(); ++turn) {
      const std::size_t share = (part + turn) % counts.size();
      const std::uint64_t before = std::accumulate(
          counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(share), std::uint64_t{0});
      fetch(places_[part], before, places_[share], cuts_[part][share], counts[share], stream);
    }
  }

  static void fetch(const Place<Key>& to, std::uint64_t to_index, const Place<Key>& from,
                    std::uint64_t from_index, std::uint64_t count, cudaStream_t stream) {
    if (count == 0) return;
    Key* const target = to.arrived + to_index;
    const Key* const source = from.sorted + from_index;
    const std::size_t bytes = count * sizeof(Key);
    const cudaError_t result =
        to.ordinal == from.ordinal
            ? cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream)
            : cudaMemcpyPeerAsync(target, to.ordinal, source, from.ordinal, bytes, stream);
    check_cuda(result, CudaCall::kCopy, "copying sorted keys between devices");
  }

  std::vector<Place<Key>> places_;
  std::vector<StreamOf> streams_;
  std::vector<std::vector<std::uint64_t>> cuts_;  // where each part begins, and the last one ends
};

void require_some(std::size_t shares) {
  if (shares > 0) return;
  throw Error(ErrorKind::kUsage, kOperation, "no devices were given");
}

// Two arrays of keys, and what else there is to take.
template <class Key>
struct HostPlace {
  Key* arrived = nullptr;
  Key* merged = nullptr;
  ScratchMemory others{};
  std::size_t bytes = 0;
};

template <class Key>
HostPlace<Key> cut_host_place(void* scratch, std::uint64_t count, std::uint32_t devices) {
  HostPlace<Key> place;
  ScratchCutter cutter(scratch);
  place.arrived = cutter.take<Key>(count);
  place.merged = cutter.take<Key>(count);
  place.others.bytes = std::max(arriving_scratch_bytes<Key>(arriving_chunks(count)),
                                others_bytes<Key>(count, devices));
  place.others.memory = cutter.take<std::byte>(place.others.bytes);
  place.bytes = cutter.used_bytes();
  return place;
}

}  // namespace

template <class Key>
std::size_t sort_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares) {
  require_count(count, kOperation);
  ScratchCutter cutter(nullptr);
  static_cast<void>(cutter.take<Key>(count));
  static_cast<void>(cutter.take<std::byte>(others_bytes<Key>(count, shares)));
  return std::max(cutter.used_bytes(), sort_keys_by_distribution_scratch_bytes<Key>(count));
}

template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& map) {
  require_some(shares.size());
  const auto number_of_shares = static_cast<std::uint32_t>(shares.size());
  std::vector<Place<Key>> places;
  for (const DeviceShare<Key>& share : shares) {
    require_memory(share.keys, share.count * sizeof(Key), sizeof(Key), kOperation, "a share");
    require_scratch(share.scratch, sort_shares_scratch_bytes<Key>(share.count, number_of_shares),
                    kOperation);
    ScratchCutter cutter(share.scratch.memory);
    Key* const arrived = cutter.take<Key>(share.count);
    const std::size_t others = others_bytes<Key>(share.count, number_of_shares);
    places.push_back({share.ordinal,
                      share.count,
                      share.keys,
                      arrived,
                      {cutter.take<std::byte>(others), others}});
  }
  const KeptDevice kept;
  SharesSort<Key> sort(std::move(places));
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    sort_keys_by_distribution<Key>({.input = shares[number].keys,
                                    .output = shares[number].keys,
                                    .count = shares[number].count,
                                    .load_map = map,
                                    .scratch = shares[number].scratch,
                                    .stream = stream});
  });
  sort.exchange(map, [](std::size_t, cudaStream_t) {});
}

template <class Key>
std::size_t sort_host_shares_scratch_bytes(std::uint64_t count, std::uint32_t devices) {
  const std::uint64_t share = div_up(count, std::max(devices, 1U));
  require_count(share, kOperation);
  // Shorter chunks need less, and so may a share that has one key less than another.
  std::size_t most = cut_host_place<Key>(nullptr, share, devices).bytes;
  if (share > 1) most = std::max(most, cut_host_place<Key>(nullptr, share - 1, devices).bytes);
  return most;
}

template <class Key>
void sort_host_shares(const HostShareSort<Key>& host, std::span<const SharingDevice> devices) {
  require_some(devices.size());
  const std::uint64_t bytes = host.count * sizeof(Key);
  require_memory(host.input, bytes, sizeof(Key), kOperation, "the input");
  require_memory(host.output, bytes, sizeof(Key), kOperation, "the output");
  if (host.input != host.output) {
    require_apart(host.input, bytes, host.output, bytes, kOperation, "input and output");
  }
  const auto count = static_cast<std::uint32_t>(devices.size());
  const std::size_t needed = sort_host_shares_scratch_bytes<Key>(host.count, count);
  std::vector<Place<Key>> places;
  std::vector<std::uint64_t> begins;
  std::uint64_t begin = 0;
  for (std::uint32_t device = 0; device < count; ++device) {
    require_scratch(devices[device].scratch, needed, kOperation);
    const std::uint64_t keys = host.count / count + (device < host.count % count ? 1 : 0);
    const auto place = cut_host_place<Key>(devices[device].scratch.memory, keys, count);
    places.push_back({devices[device].ordinal, keys, place.arrived, place.merged, place.others});
    begins.push_back(begin);
    begin += keys;
  }
  const KeptDevice kept;
  SharesSort<Key> sort(std::move(places));
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    Place<Key>& place = sort[number];
    const Key* const sorted = sort_arriving_keys<Key>({.input = host.input + begins[number],
                                                       .chunks = arriving_chunks(place.count),
                                                       .arrived = place.sorted,
                                                       .merged = place.arrived,
                                                       .load_map = host.map,
                                                       .scratch = place.others,
                                                       .stream = stream});
    if (sorted != place.sorted) std::swap(place.sorted, place.arrived);
  });
  sort.exchange(host.map, [&](std::size_t number, cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(host.output + begins[number], sort[number].sorted,
                               sort[number].count * sizeof(Key), cudaMemcpyDeviceToHost, stream),
               CudaCall::kCopy, kOperation);
  });
}

#define GSORT_INSTANTIATE(Key)                                                            \
  template std::size_t sort_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t);      \
  template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&);       \
  template std::size_t sort_host_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t); \
  template void sort_host_shares(const HostShareSort<Key>&, std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t)
#undef GSORT_INSTANTIATE

}  // namespace gsort::gpu
