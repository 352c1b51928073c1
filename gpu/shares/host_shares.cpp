#include "gpu/shares/host_shares.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "gpu/records/launch.hpp"
#include "gpu/shares/share_checks.hpp"
#include "gpu/shares/shared_runs.hpp"
#include "gpu/shares/work_shares.hpp"

namespace gsort::gpu {
namespace {

// As many as one pass merges.
constexpr std::uint64_t kMostChunksOfRun = 8;
// The number that a device takes before the first is done: enough to keep its link busy.
constexpr std::size_t kChunksAtOnce = 2;
constexpr std::size_t kPiecesAtOnce = 3;

// How the elements are divided. Chunks and pieces begin at whole cache lines.
struct HostShape {
  std::uint64_t count = 0;
  std::uint64_t chunk_keys = 0;  // the last chunk may have fewer
  std::uint64_t chunks = 0;
  std::uint64_t piece_keys = 0;  // the last piece may have fewer
  std::uint64_t pieces = 0;

  [[nodiscard]] std::uint64_t keys_of_chunk(std::uint64_t chunk) const {
    return std::min(chunk_keys, count - chunk * chunk_keys);
  }
};

HostShape shape_of(std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys) {
  constexpr std::uint64_t kLineKeys = 128 / sizeof(std::uint32_t);
  const std::uint64_t share = div_up(count, std::max(devices, 1U));
  require_count(share, kSharing);
  const std::uint64_t chunks_of_share =
      std::clamp<std::uint64_t>(share / least_chunk_keys, 1, kMostChunksOfRun);
  HostShape shape{.count = count};
  shape.chunk_keys = std::max(round_up(div_up(share, chunks_of_share), kLineKeys), kLineKeys);
  shape.chunks = div_up(count, shape.chunk_keys);
  shape.piece_keys = round_up(shape.chunk_keys / 2, kLineKeys);
  shape.pieces = div_up(count, shape.piece_keys);
  return shape;
}

// Where pieces arrive, and where they are merged.
template <class Key, class Value>
struct PieceRoom {
  std::array<Pairs<Key, Value>, kPiecesAtOnce> arrived{};
  std::array<Pairs<Key, Value>, kPiecesAtOnce> merged{};
  ScratchMemory scratch{};
};

template <class Key, class Value>
std::size_t piece_merge_bytes(const HostShape& shape) {
  std::size_t most = 0;
  for (std::uint64_t runs = 1; runs <= std::max<std::uint64_t>(shape.chunks, 1); ++runs) {
    const auto slices = static_cast<std::uint32_t>(runs);
    most = std::max(most, merge_bytes<Key, Value>(shape.piece_keys, slices));
  }
  return most;
}

template <class Key, class Value>
PieceRoom<Key, Value> take_piece_room(ScratchCutter& cutter, const HostShape& shape) {
  PieceRoom<Key, Value> room;
  for (auto& piece : room.arrived) piece = take_elements<Key, Value>(cutter, shape.piece_keys);
  for (auto& piece : room.merged) piece = take_elements<Key, Value>(cutter, shape.piece_keys);
  room.scratch.bytes = piece_merge_bytes<Key, Value>(shape);
  room.scratch.memory = cutter.take<std::byte>(room.scratch.bytes);
  return room;
}

// The memory that chunks and runs of at most `slots` chunks need beside their arrays.
template <class Key, class Value>
std::size_t run_bytes(const HostShape& shape, std::uint64_t slots) {
  std::size_t most = chunk_sort_bytes<Key, Value>(shape.chunk_keys);
  for (std::uint64_t chunks = 1; chunks <= std::min(slots, kMostChunksOfRun); ++chunks) {
    const std::uint64_t keys = chunks * shape.chunk_keys;
    most = std::max({most, fences_bytes<Key>(keys),
                     merge_bytes<Key, Value>(keys, static_cast<std::uint32_t>(chunks))});
  }
  return most;
}

// The memory of one device, with room for `slots` chunks.
template <class Key, class Value>
struct HostPlace {
  int ordinal = 0;
  std::uint64_t slots = 0;
  Pairs<Key, Value> runs{};
  Pairs<Key, Value> chunks{};
  ScratchMemory others{};
  PieceRoom<Key, Value> pieces{};  // in place of chunks, when these are runs
  std::size_t bytes = 0;
};

template <class Key, class Value>
HostPlace<Key, Value> cut_place(void* scratch, const HostShape& shape, std::uint64_t slots) {
  HostPlace<Key, Value> place{.slots = slots};
  if (slots == 0) return place;
  ScratchCutter cutter(scratch);
  place.runs = take_elements<Key, Value>(cutter, slots * shape.chunk_keys);
  ScratchCutter pieces = cutter;
  place.pieces = take_piece_room<Key, Value>(pieces, shape);
  place.chunks = take_elements<Key, Value>(cutter, slots * shape.chunk_keys);
  place.others.bytes = run_bytes<Key, Value>(shape, slots);
  place.others.memory = cutter.take<std::byte>(place.others.bytes);
  place.bytes = std::max(cutter.used_bytes(), pieces.used_bytes());
  return place;
}

template <class Key, class Value>
std::size_t host_bytes(std::uint64_t count, std::uint32_t devices, std::uint64_t least_chunk_keys) {
  const HostShape shape = shape_of(count, devices, least_chunk_keys);
  const std::uint64_t slots = div_up(shape.chunks, std::max(devices, 1U));
  return cut_place<Key, Value>(nullptr, shape, slots).bytes;
}

// With as many slots as there is memory for.
template <class Key, class Value>
HostPlace<Key, Value> place_on(const SharingDevice& device, const HostShape& shape) {
  std::uint64_t slots = 0;
  while (slots < shape.chunks &&
         cut_place<Key, Value>(nullptr, shape, slots + 1).bytes <= device.scratch.bytes) {
    ++slots;
  }
  auto place = cut_place<Key, Value>(device.scratch.memory, shape, slots);
  place.ordinal = device.ordinal;
  return place;
}

template <class Key, class Value>
std::vector<HostPlace<Key, Value>> places_on(std::span<const SharingDevice> devices,
                                             const HostShape& shape) {
  std::vector<HostPlace<Key, Value>> places;
  MemoryOfCall memory(kSharing);
  std::uint64_t slots = 0;
  for (const SharingDevice& device : devices) {
    places.push_back(place_on<Key, Value>(device, shape));
    memory.add_scratch(device.scratch, places.back().bytes);
    slots += places.back().slots;
  }
  if (slots < shape.chunks) {
    throw Error(ErrorKind::kUsage, kSharing,
                "the scratch memory of all devices holds " + std::to_string(slots) + " of " +
                    std::to_string(shape.chunks) + " chunks");
  }
  memory.require_all_apart();
  return places;
}

// A chunk, sorted, on a device.
struct ChunkPlace {
  std::uint64_t chunk = 0;
  std::uint64_t slot = 0;  // of the device's memory
};

// Chunks of the own stretch fill the slots from the first one on, others from the last one back: so
// neighbours of the input, which are taken one after the other, are neighbours in memory.
class Slots {
 public:
  explicit Slots(std::uint64_t slots) : end_(slots) {}
  [[nodiscard]] bool has_room() const { return begin_ < end_; }
  [[nodiscard]] std::uint64_t take(bool is_own) { return is_own ? begin_++ : --end_; }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t end_;
};

// The chunks of a device, in stretches that become runs.
std::vector<std::vector<ChunkPlace>> stretches_of(std::vector<ChunkPlace> chunks) {
  std::ranges::sort(chunks, {}, &ChunkPlace::chunk);
  std::vector<std::vector<ChunkPlace>> stretches;
  for (const ChunkPlace& next : chunks) {
    const bool goes_on = !stretches.empty() && stretches.back().size() < kMostChunksOfRun &&
                         stretches.back().back().chunk + 1 == next.chunk &&
                         stretches.back().back().slot + 1 == next.slot;
    if (!goes_on) stretches.emplace_back();
    stretches.back().push_back(next);
  }
  return stretches;
}

template <class Key, class Value>
class HostSort {
 public:
  HostSort(const HostPairSort<Key, Value>& host, const HostShape& shape,
           std::vector<HostPlace<Key, Value>> places)
      : host_(host),
        shape_(shape),
        places_(std::move(places)),
        maps_(RunMaps<Key>::of(host.map,
                               kHasValues<Value> && !host.takes_numbers && host.map.folds_classes)),
        sort_(ordinals_of(places_), maps_.load),
        chunks_(shape.chunks, places_.size()),
        pieces_(shape.pieces, places_.size()),
        runs_(places_.size()) {}

  void run() {
    on_each(chunks_, [&](std::size_t device, cudaStream_t stream) {
      merge_chunks(device, sort_chunks(device), stream);
    });
    find_cuts();
    on_each(pieces_, [&](std::size_t device, cudaStream_t) { bring_pieces(device); });
  }

 private:
  // A run, and the number of its first chunk.
  struct NumberedRun {
    std::uint64_t first_chunk = 0;
    SortedRun<Key, Value> run{};
  };

  static std::vector<int> ordinals_of(const std::vector<HostPlace<Key, Value>>& places) {
    std::vector<int> ordinals;
    for (const auto& place : places) ordinals.push_back(place.ordinal);
    return ordinals;
  }

  // On devices that have memory. When one fails, the others take no more jobs.
  template <class Work>
  void on_each(WorkShares& jobs, const Work& work) {
    sort_.on_each([&](std::size_t device, cudaStream_t stream) {
      if (places_[device].slots == 0) return;
      try {
        work(device, stream);
      } catch (...) {
        jobs.stop();
        throw;
      }
    });
  }

  // Sorts chunks as long as there are some, and room.
  std::vector<ChunkPlace> sort_chunks(std::size_t device) {
    const Stream copies;  // both are destroyed when their work is done
    const Stream sorts;
    const std::array<Event, kChunksAtOnce> done;
    std::vector<ChunkPlace> taken;
    for (Slots slots(places_[device].slots); slots.has_room();) {
      const Event& is_done = done[taken.size() % kChunksAtOnce];
      if (taken.size() >= kChunksAtOnce) is_done.wait(kSharing);
      const auto job = chunks_.take(device);
      if (!job) break;
      taken.push_back({job->number, slots.take(job->is_own)});
      sort_chunk_at(device, taken.back(), copies, sorts);
      is_done.record(sorts);
    }
    sorts.wait(kSharing);
    return taken;
  }

  void sort_chunk_at(std::size_t device, const ChunkPlace& at, const Stream& copies,
                     const Stream& sorts) const {
    const HostPlace<Key, Value>& place = places_[device];
    const Pairs<Key, Value> chunk = behind(place.chunks, at.slot * shape_.chunk_keys);
    const std::uint64_t first = at.chunk * shape_.chunk_keys;
    const std::uint64_t count = shape_.keys_of_chunk(at.chunk);
    copy(chunk.keys, host_.input.keys + first, count, cudaMemcpyHostToDevice, copies.get());
    if constexpr (kHasValues<Value>) {
      if (host_.takes_numbers) {
        launch_count_up(chunk.values, first, count, copies.get());
      } else {
        copy(chunk.values, host_.input.values + first, count, cudaMemcpyHostToDevice, copies.get());
      }
    }
    order_streams(copies.get(), sorts.get(), kSharing);
    // The memory of the runs is still free.
    Key* const kept = behind(place.runs, at.slot * shape_.chunk_keys).keys;
    sort_chunk<Key, Value>({chunk, chunk, count, host_.map, maps_.store, place.others, sorts.get()},
                           kept);
  }

  void merge_chunks(std::size_t device, const std::vector<ChunkPlace>& chunks,
                    cudaStream_t stream) {
    const HostPlace<Key, Value>& place = places_[device];
    for (const std::vector<ChunkPlace>& stretch : stretches_of(chunks)) {
      std::vector<std::uint64_t> counts;
      for (const ChunkPlace& at : stretch) counts.push_back(shape_.keys_of_chunk(at.chunk));
      const std::uint64_t begin = stretch.front().slot * shape_.chunk_keys;
      const Pairs<Key, Value> run = behind(place.runs, begin);
      merge_elements<Key, Value>({.input = behind(place.chunks, begin),
                                  .slice_counts = counts.data(),
                                  .slice_count = static_cast<std::uint32_t>(counts.size()),
                                  .output = run,
                                  .load_map = maps_.load,
                                  .store_map = maps_.store,
                                  .scratch = place.others,
                                  .stream = stream});
      const auto count = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      runs_[device].push_back({stretch.front().chunk, {device, run, count}});
    }
  }

  void find_cuts() {
    std::vector<NumberedRun> all;
    for (const auto& runs : runs_) all.insert(all.end(), runs.begin(), runs.end());
    std::ranges::sort(all, {}, &NumberedRun::first_chunk);
    std::vector<SortedRun<Key, Value>> in_order;
    for (const NumberedRun& numbered : all) in_order.push_back(numbered.run);
    std::vector<std::uint64_t> bounds;
    for (std::uint64_t piece = 0; piece <= shape_.pieces; ++piece) {
      bounds.push_back(std::min(piece * shape_.piece_keys, shape_.count));
    }
    std::vector<void*> memory;
    for (const auto& place : places_) memory.push_back(place.others.memory);
    sort_.find_cuts(std::move(in_order), bounds, memory);
  }

  // Merges pieces and copies them to the host as long as there are some.
  void bring_pieces(std::size_t device) {
    const Stream fetches;  // all are destroyed when their work is done
    const Stream merges;
    const Stream leaves;
    const std::array<Event, kPiecesAtOnce> left;
    const PieceRoom<Key, Value>& room = places_[device].pieces;
    for (std::size_t taken = 0;; ++taken) {
      const std::size_t turn = taken % kPiecesAtOnce;
      if (taken >= kPiecesAtOnce) left[turn].wait(kSharing);
      const auto job = pieces_.take(device);
      if (!job) break;
      sort_.fetch_piece(job->number, device, room.arrived[turn], fetches.get());
      order_streams(fetches.get(), merges.get(), kSharing);
      sort_.merge_piece(job->number, {room.arrived[turn], room.merged[turn], host_.map,
                                      room.scratch, merges.get()});
      order_streams(merges.get(), leaves.get(), kSharing);
      copy_out(job->number, room.merged[turn], leaves.get());
      left[turn].record(leaves);
    }
    leaves.wait(kSharing);
  }

  void copy_out(std::uint64_t piece, const Pairs<Key, Value>& merged, cudaStream_t stream) const {
    const std::uint64_t begin = piece * shape_.piece_keys;
    const std::uint64_t count = std::min(shape_.piece_keys, shape_.count - begin);
    if (!host_.takes_numbers) {
      copy(host_.output.keys + begin, merged.keys, count, cudaMemcpyDeviceToHost, stream);
    }
    if constexpr (kHasValues<Value>) {
      copy(host_.output.values + begin, merged.values, count, cudaMemcpyDeviceToHost, stream);
    }
  }

  template <class T>
  static void copy(T* to, const T* from, std::uint64_t count, cudaMemcpyKind kind,
                   cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream), CudaCall::kCopy,
               kSharing);
  }

  const HostPairSort<Key, Value>& host_;
  const HostShape& shape_;
  std::vector<HostPlace<Key, Value>> places_;
  RunMaps<Key> maps_;
  SharedRuns<Key, Value> sort_;
  WorkShares chunks_;
  WorkShares pieces_;
  std::vector<std::vector<NumberedRun>> runs_;  // of each device
};

template <class Key, class Value>
void sort_host(const HostPairSort<Key, Value>& host, std::span<const SharingDevice> devices) {
  require_devices(devices.size(), kSharing);
  require_host_arrays(host, kSharing);
  const HostShape shape =
      shape_of(host.count, static_cast<std::uint32_t>(devices.size()), host.least_chunk_keys);
  auto places = places_on<Key, Value>(devices, shape);
  keep_device_during([&] { HostSort<Key, Value>(host, shape, std::move(places)).run(); });
}

}  // namespace

template <class Key>
std::size_t sort_host_shares_scratch_bytes(std::uint64_t count, std::uint32_t devices,
                                           std::uint64_t least_chunk_keys) {
  return host_bytes<Key, NoValue>(count, devices, least_chunk_keys);
}

template <class Key>
void sort_host_shares(const HostShareSort<Key>& host, std::span<const SharingDevice> devices) {
  sort_host<Key, NoValue>({.input = {host.input, nullptr},
                           .output = {host.output, nullptr},
                           .count = host.count,
                           .map = host.map,
                           .least_chunk_keys = host.least_chunk_keys},
                          devices);
}

template <class Key, class Value>
std::size_t sort_host_pairs_scratch_bytes(std::uint64_t count, std::uint32_t devices,
                                          std::uint64_t least_chunk_keys) {
  return host_bytes<Key, Value>(count, devices, least_chunk_keys);
}

template <class Key, class Value>
void sort_host_pairs(const HostPairSort<Key, Value>& host, std::span<const SharingDevice> devices) {
  sort_host(host, devices);
}

#define GSORT_INSTANTIATE(Key)                                                           \
  template std::size_t sort_host_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t, \
                                                           std::uint64_t);               \
  template void sort_host_shares(const HostShareSort<Key>&, std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t)
#undef GSORT_INSTANTIATE
#define GSORT_INSTANTIATE(Key, Value)                                                          \
  template std::size_t sort_host_pairs_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t, \
                                                                 std::uint64_t);               \
  template void sort_host_pairs(const HostPairSort<Key, Value>&, std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint32_t, std::uint64_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint64_t)
#undef GSORT_INSTANTIATE

}  // namespace gsort::gpu
