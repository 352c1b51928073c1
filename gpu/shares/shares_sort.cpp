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
#include "gpu/merge/device_arrays.hpp"
#include "gpu/shares/fences.hpp"
#include "gpu/shares/peer_access.hpp"
#include "gpu/shares/share_checks.hpp"
#include "gpu/shares/share_cuts.hpp"
#include "gpu/shares/share_elements.hpp"

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
template <class Key, class Value>
struct Place {
  int ordinal = 0;
  std::uint64_t count = 0;
  Pairs<Key, Value> sorted{};      // the share in order
  Pairs<Key, Value> arrived{};     // the slices of the device's part of the result
  Pairs<Key, Value> last_piece{};  // where those of the last piece arrive, if there are pieces
  ScratchMemory others{};          // for fences
  ScratchMemory merging{};
  std::uint64_t piece_keys = 0;  // of each piece of the part; the last may have fewer

  [[nodiscard]] std::uint64_t pieces() const { return count == 0 ? 0 : div_up(count, piece_keys); }
};

template <class Key>
std::size_t fences_bytes(std::uint64_t count) {
  return div_up(count, fence_step(count)) * sizeof(Key);
}

template <class Key, class Value>
std::size_t others_bytes(std::uint64_t count, std::uint32_t shares) {
  return std::max(merge_bytes<Key, Value>(count, shares), fences_bytes<Key>(count));
}

template <class T>
void copy_out(T* to, const T* from, std::uint64_t count, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
             CudaCall::kCopy, kOperation);
}

// The phases of a sort. Each begins when the one before has ended on all devices.
template <class Key, class Value>
class SharesSort {
 public:
  using PlaceOf = Place<Key, Value>;

  explicit SharesSort(std::vector<PlaceOf> places) : places_(std::move(places)) {
    std::vector<int> ordinals;
    for (const PlaceOf& place : places_) {
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

  [[nodiscard]] PlaceOf& operator[](std::size_t number) { return places_[number]; }

  // The position of a piece in the sorted sequence; of the piece behind the last, where it ends.
  [[nodiscard]] std::uint64_t begin_of(std::size_t part, std::uint64_t piece) const {
    std::uint64_t position = std::min(piece * places_[part].piece_keys, places_[part].count);
    for (std::size_t before = 0; before < part; ++before) position += places_[before].count;
    return position;
  }

  // Puts the parts of the sorted sequence where the sorted shares are. A part is one piece.
  void exchange(const KeyMap<Key>& store_map) {
    find_cuts();
    on_each([&](std::size_t number, cudaStream_t stream) {
      fetch_piece(number, 0, places_[number].arrived, stream);
    });
    on_each([&](std::size_t number, cudaStream_t stream) {
      const PlaceOf& place = places_[number];
      merge_piece(number, 0, {place.arrived, place.sorted, store_map, stream});
    });
  }

  // Brings the parts of the sorted sequence to `output`, in host memory, piece by piece. A piece
  // is merged into its place in `arrived`; its slices arrive in the place of the next piece, which
  // is merged later. An array of the output that is null is left out.
  void bring(const Pairs<Key, Value>& output, const KeyMap<Key>& store_map) {
    find_cuts();
    on_each([&](std::size_t number, cudaStream_t fetching) {
      const PlaceOf& place = places_[number];
      const Stream merging;  // both are destroyed when their work is done
      const Stream leaving;
      for (std::uint64_t piece = 0; piece < place.pieces(); ++piece) {
        const Pairs<Key, Value> merged = behind(place.arrived, piece * place.piece_keys);
        const bool is_last = piece + 1 == place.pieces();
        const auto arrived = is_last ? place.last_piece : behind(merged, place.piece_keys);
        fetch_piece(number, piece, arrived, fetching);
        order_streams(fetching, merging.get(), kOperation);
        merge_piece(number, piece, {arrived, merged, store_map, merging.get()});
        order_streams(merging.get(), leaving.get(), kOperation);
        const std::uint64_t begin = begin_of(number, piece);
        const std::uint64_t count = begin_of(number, piece + 1) - begin;
        if (output.keys != nullptr) {
          copy_out(output.keys + begin, merged.keys, count, leaving.get());
        }
        if constexpr (kHasValues<Value>) {
          copy_out(output.values + begin, merged.values, count, leaving.get());
        }
      }
      order_streams(leaving.get(), fetching, kOperation);
    });
  }

 private:
  struct PieceMerge {
    Pairs<Key, Value> arrived;
    Pairs<Key, Value> merged;
    const KeyMap<Key>& store_map;
    cudaStream_t stream;
  };

  // Every device reads the cuts of its own part: most of the time is spent waiting for keys.
  void find_cuts() {
    std::vector<std::vector<Key>> fences(places_.size());
    on_each([&](std::size_t number, cudaStream_t stream) {
      fences[number] = fences_of(places_[number], stream);
    });
    cuts_.resize(places_.size());
    on_each([&](std::size_t number, cudaStream_t) {
      std::vector<ShareView<Key>> views;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        views.emplace_back(places_[i].ordinal, places_[i].sorted.keys, places_[i].count,
                           std::span<const Key>(fences[i]), streams_[i].get());
      }
      for (std::uint64_t piece = 0; piece <= places_[number].pieces(); ++piece) {
        cuts_[number].push_back(cut_shares<Key>(views, begin_of(number, piece)));
      }
      use_device(places_[number].ordinal);
    });
  }

  std::vector<Key> fences_of(const PlaceOf& place, cudaStream_t stream) const {
    const std::uint64_t step = fence_step(place.count);
    std::vector<Key> fences(div_up(place.count, step));
    auto* const on_device = static_cast<Key*>(place.others.memory);
    launch_fences(place.sorted.keys, place.count, step, on_device, stream);
    check_cuda(cudaMemcpyAsync(fences.data(), on_device, fences.size() * sizeof(Key),
                               cudaMemcpyDeviceToHost, stream),
               CudaCall::kCopy, kOperation);
    check_cuda(cudaStreamSynchronize(stream), CudaCall::kStream, kOperation);
    return fences;
  }

  [[nodiscard]] std::vector<std::uint64_t> slice_counts(std::size_t part,
                                                        std::uint64_t piece) const {
    std::vector<std::uint64_t> counts(places_.size());
    for (std::size_t share = 0; share < counts.size(); ++share) {
      counts[share] = cuts_[part][piece + 1][share] - cuts_[part][piece][share];
    }
    return counts;
  }

  // Devices begin with different shares, so that they do not all wait for the same link.
  void fetch_piece(std::size_t part, std::uint64_t piece, const Pairs<Key, Value>& to,
                   cudaStream_t stream) {
    const std::vector<std::uint64_t> counts = slice_counts(part, piece);
    for (std::size_t turn = 0; turn < counts.size(); ++turn) {
      const std::size_t share = (part + turn) % counts.size();
      const std::uint64_t before = std::accumulate(
          counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(share), std::uint64_t{0});
      const auto slice = behind(places_[share].sorted, cuts_[part][piece][share]);
      const auto place = behind(to, before);
      const int ordinal = places_[part].ordinal;
      const int from = places_[share].ordinal;
      fetch(place.keys, ordinal, slice.keys, from, counts[share], stream);
      if constexpr (kHasValues<Value>) {
        fetch(place.values, ordinal, slice.values, from, counts[share], stream);
      }
    }
  }

  template <class T>
  static void fetch(T* to, int to_ordinal, const T* from, int from_ordinal, std::uint64_t count,
                    cudaStream_t stream) {
    if (count == 0) return;
    const std::size_t bytes = count * sizeof(T);
    const cudaError_t result =
        to_ordinal == from_ordinal
            ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
            : cudaMemcpyPeerAsync(to, to_ordinal, from, from_ordinal, bytes, stream);
    check_cuda(result, CudaCall::kCopy, "copying sorted keys between devices");
  }

  void merge_piece(std::size_t part, std::uint64_t piece, const PieceMerge& merge) {
    const std::vector<std::uint64_t> counts = slice_counts(part, piece);
    merge_elements<Key, Value>({merge.arrived, counts, merge.merged, merge.store_map,
                                places_[part].merging, merge.stream});
  }

  std::vector<PlaceOf> places_;
  std::vector<StreamOf> streams_;
  // Of each part, the cut where each piece begins, and that where the last one ends.
  std::vector<std::vector<std::vector<std::uint64_t>>> cuts_;
};

void require_some(std::size_t shares) {
  if (shares > 0) return;
  throw Error(ErrorKind::kUsage, kOperation, "no devices were given");
}

// At most as many pieces as chunks on the way in: a piece then needs little more scratch memory
// than the sort of a chunk. Pieces begin at whole cache lines.
std::uint64_t piece_keys_of(std::uint64_t count, std::uint64_t least_keys) {
  constexpr std::uint64_t kLineKeys = 128 / sizeof(std::uint32_t);
  const std::uint64_t pieces =
      std::clamp<std::uint64_t>(count / least_keys, 1, kMostArrivingChunks);
  return round_up(div_up(count, pieces), kLineKeys);
}

template <class Key, class Value>
struct HostPlace {
  Place<Key, Value> place;
  std::size_t bytes = 0;
};

// Two arrays of elements, and what else there is to take.
template <class Key, class Value>
HostPlace<Key, Value> cut_host_place(void* scratch, std::uint64_t count, std::uint32_t devices,
                                     std::uint64_t least_piece_keys) {
  Place<Key, Value> place;
  place.count = count;
  place.piece_keys = piece_keys_of(count, least_piece_keys);
  const std::uint64_t whole_pieces = place.pieces() * place.piece_keys;
  ScratchCutter cutter(scratch);
  place.arrived = take_elements<Key, Value>(cutter, whole_pieces);
  place.sorted = take_elements<Key, Value>(cutter, whole_pieces);
  ScratchCutter pieces(cutter.take<std::byte>(0));
  place.last_piece = take_elements<Key, Value>(pieces, place.piece_keys);
  place.merging.bytes = merge_bytes<Key, Value>(place.piece_keys, devices);
  place.merging.memory = pieces.take<std::byte>(place.merging.bytes);
  place.others.bytes =
      std::max({arrival_bytes<Key, Value>(arriving_chunks(count, least_piece_keys)),
                fences_bytes<Key>(count), pieces.used_bytes()});
  place.others.memory = cutter.take<std::byte>(place.others.bytes);
  return {place, cutter.used_bytes()};
}

template <class Key, class Value>
std::size_t host_bytes(std::uint64_t count, std::uint32_t devices, std::uint64_t least_piece_keys) {
  const std::uint64_t share = div_up(count, std::max(devices, 1U));
  require_count(share, kOperation);
  // Shorter chunks need less, and so may a share that has one key less than another.
  const auto bytes_of = [&](std::uint64_t keys) {
    return cut_host_place<Key, Value>(nullptr, keys, devices, least_piece_keys).bytes;
  };
  return share > 1 ? std::max(bytes_of(share), bytes_of(share - 1)) : bytes_of(share);
}

template <class Key, class Value>
void sort_host(const HostPairSort<Key, Value>& host, std::span<const SharingDevice> devices) {
  require_some(devices.size());
  require_host_arrays(host, kOperation);
  const auto count = static_cast<std::uint32_t>(devices.size());
  const std::size_t needed = host_bytes<Key, Value>(host.count, count, host.least_piece_keys);
  std::vector<Place<Key, Value>> places;
  MemoryOfCall memory(kOperation);
  for (std::uint32_t device = 0; device < count; ++device) {
    memory.add_scratch(devices[device].scratch, needed);
    const std::uint64_t share = host.count / count + (device < host.count % count ? 1 : 0);
    places.push_back(cut_host_place<Key, Value>(devices[device].scratch.memory, share, count,
                                                host.least_piece_keys)
                         .place);
    places.back().ordinal = devices[device].ordinal;
  }
  memory.require_all_apart();
  const KeptDevice kept;
  SharesSort<Key, Value> sort(std::move(places));
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    Place<Key, Value>& place = sort[number];
    const Pairs<Key, Value> sorted =
        sort_arriving<Key, Value>({.host = host,
                                   .first = sort.begin_of(number, 0),
                                   .chunks = arriving_chunks(place.count, host.least_piece_keys),
                                   .arrived = place.sorted,
                                   .merged = place.arrived,
                                   .scratch = place.others,
                                   .stream = stream});
    if (sorted.keys != place.sorted.keys) std::swap(place.sorted, place.arrived);
  });
  Pairs<Key, Value> output = host.output;
  if (host.takes_numbers) output.keys = nullptr;
  sort.bring(output, host.map);
}

template <class Key, class Value>
std::size_t shares_bytes(std::uint64_t count, std::uint32_t shares) {
  require_count(count, kOperation);
  ScratchCutter cutter(nullptr);
  static_cast<void>(take_elements<Key, Value>(cutter, count));
  static_cast<void>(cutter.take<std::byte>(others_bytes<Key, Value>(count, shares)));
  return std::max(cutter.used_bytes(), sort_bytes<Key, Value>(count));
}

template <class Key, class Value>
void sort_in_place(std::span<const PairShare<Key, Value>> shares, const KeyMap<Key>& map) {
  require_some(shares.size());
  const auto number_of_shares = static_cast<std::uint32_t>(shares.size());
  std::vector<Place<Key, Value>> places;
  MemoryOfCall all(kOperation);
  for (const PairShare<Key, Value>& share : shares) {
    const std::size_t needed = shares_bytes<Key, Value>(share.count, number_of_shares);
    all.add(share.keys, share.count, "a share");
    if constexpr (kHasValues<Value>) all.add(share.values, share.count, "a share of values");
    all.add_scratch(share.scratch, needed);
    ScratchCutter cutter(share.scratch.memory);
    const auto arrived = take_elements<Key, Value>(cutter, share.count);
    const std::size_t others = others_bytes<Key, Value>(share.count, number_of_shares);
    const ScratchMemory memory{cutter.take<std::byte>(others), others};
    places.push_back({.ordinal = share.ordinal,
                      .count = share.count,
                      .sorted = {share.keys, share.values},
                      .arrived = arrived,
                      .others = memory,
                      .merging = memory,
                      .piece_keys = share.count});
  }
  all.require_all_apart();
  const KeptDevice kept;
  SharesSort<Key, Value> sort(std::move(places));
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    sort_elements(sort[number].sorted, shares[number].count, map, shares[number].scratch, stream);
  });
  sort.exchange(map);
}

}  // namespace

template <class Key>
std::size_t sort_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares) {
  return shares_bytes<Key, NoValue>(count, shares);
}

template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& map) {
  sort_in_place<Key, NoValue>(shares, map);
}

template <class Key, class Value>
std::size_t sort_pair_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares) {
  return shares_bytes<Key, Value>(count, shares);
}

template <class Key, class Value>
void sort_pair_shares(std::span<const PairShare<Key, Value>> shares, const KeyMap<Key>& map) {
  sort_in_place<Key, Value>(shares, map);
}

template <class Key>
std::size_t sort_host_shares_scratch_bytes(std::uint64_t count, std::uint32_t devices,
                                           std::uint64_t least_piece_keys) {
  return host_bytes<Key, NoValue>(count, devices, least_piece_keys);
}

template <class Key>
void sort_host_shares(const HostShareSort<Key>& host, std::span<const SharingDevice> devices) {
  sort_host<Key, NoValue>({.input = {host.input, nullptr},
                           .output = {host.output, nullptr},
                           .count = host.count,
                           .map = host.map,
                           .least_piece_keys = host.least_piece_keys},
                          devices);
}

template <class Key, class Value>
std::size_t sort_host_pairs_scratch_bytes(std::uint64_t count, std::uint32_t devices,
                                          std::uint64_t least_piece_keys) {
  return host_bytes<Key, Value>(count, devices, least_piece_keys);
}

template <class Key, class Value>
void sort_host_pairs(const HostPairSort<Key, Value>& host, std::span<const SharingDevice> devices) {
  sort_host(host, devices);
}

#define GSORT_INSTANTIATE(Key)                                                           \
  template std::size_t sort_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t);     \
  template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&);      \
  template std::size_t sort_host_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t, \
                                                           std::uint64_t);               \
  template void sort_host_shares(const HostShareSort<Key>&, std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t)
#undef GSORT_INSTANTIATE
#define GSORT_INSTANTIATE(Key, Value)                                                            \
  template std::size_t sort_pair_shares_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t); \
  template void sort_pair_shares(std::span<const PairShare<Key, Value>>, const KeyMap<Key>&);    \
  template std::size_t sort_host_pairs_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t,   \
                                                                 std::uint64_t);                 \
  template void sort_host_pairs(const HostPairSort<Key, Value>&, std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint32_t, std::uint64_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint64_t)
#undef GSORT_INSTANTIATE

}  // namespace gsort::gpu
