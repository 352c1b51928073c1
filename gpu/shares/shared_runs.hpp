// SharedRuns: sorted runs in the memories of several devices. It finds exact cuts of all of them
// (share_cuts.hpp), which bound the pieces of the sorted sequence, brings the slices of a piece to
// one device, and merges them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/shares/fences.hpp"
#include "gpu/shares/peer_access.hpp"
#include "gpu/shares/share_cuts.hpp"
#include "gpu/shares/share_elements.hpp"

namespace gsort::gpu {

inline constexpr const char* kSharing = "sorting on several GPUs";

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
  void wait() const { stream_->wait(kSharing); }

 private:
  int ordinal_;
  std::optional<Stream> stream_;
};

template <class Key, class Value>
struct SortedRun {
  std::size_t device = 0;  // its number among those of the sort
  Pairs<Key, Value> elements{};
  std::uint64_t count = 0;
};

// Memory for the fences of one run, of the longest of a device.
template <class Key>
[[nodiscard]] std::size_t fences_bytes(std::uint64_t count) {
  return div_up(count, fence_step(count)) * sizeof(Key);
}

// Devices are counted from 0, in the order in which they were given; one may be given twice.
template <class Key, class Value>
class SharedRuns {
 public:
  // `run_map` maps keys of the runs to ordered keys.
  SharedRuns(const std::vector<int>& ordinals, const KeyMap<Key>& run_map)
      : ordinals_(ordinals), run_map_(run_map) {
    for (const int ordinal : ordinals) streams_.emplace_back(ordinal);
    allow_peer_access(ordinals);
  }

  // Calls work(device, stream) with the device current, for all devices at once, and waits for the
  // streams. Throws: what the first failing call threw, when no device has anything left to do.
  void on_each(const std::function<void(std::size_t device, cudaStream_t stream)>& work) {
    run_workers(static_cast<unsigned>(ordinals_.size()), [&](unsigned device) {
      use_device(ordinals_[device]);
      try {
        work(device, streams_[device].get());
        streams_[device].wait();
      } catch (...) {
        return_to_device(ordinals_[device]);
        static_cast<void>(cudaDeviceSynchronize());  // copies may be under way on other streams
        throw;
      }
    });
  }

  // Takes the runs, in the order of ties. `bounds` are positions in the sorted sequence, ascending;
  // between two neighbours lies a piece. `memory` of each device has fences_bytes of its longest
  // run. Every device finds its share of the cuts: most of the time is spent waiting for keys.
  void find_cuts(std::vector<SortedRun<Key, Value>> runs, const std::vector<std::uint64_t>& bounds,
                 const std::vector<void*>& memory) {
    runs_ = std::move(runs);
    std::vector<std::vector<Key>> fences(runs_.size());
    on_each([&](std::size_t device, cudaStream_t stream) {
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        if (runs_[run].device != device || runs_[run].count == 0) continue;
        fences[run] = fences_of(runs_[run], static_cast<Key*>(memory[device]), stream);
      }
    });
    cuts_.assign(bounds.size(), {});
    on_each([&](std::size_t device, cudaStream_t) {
      const std::vector<ShareView<Key>> views = views_of(fences);
      for (std::size_t cut = device; cut < bounds.size(); cut += ordinals_.size()) {
        cuts_[cut] = cut_shares<Key>(views, bounds[cut]);
      }
      use_device(ordinals_[device]);
    });
  }

  // Queues copies of the slices of a piece to memory of the device, back to back, on a stream of
  // it. Devices begin with different runs, so that they do not all wait for the same link.
  void fetch_piece(std::size_t piece, std::size_t device, const Pairs<Key, Value>& to,
                   cudaStream_t stream) const {
    const std::size_t first = device * runs_.size() / ordinals_.size();
    for (std::size_t turn = 0; turn < runs_.size(); ++turn) {
      copy_slice((first + turn) % runs_.size(), piece, device, to, stream);
    }
  }

  // Queues copies of the slices of a run on a stream of its device. The slice of piece i goes to
  // device i, to its place among the slices at arrived[i]. Among four H200s, 8 GiB take 4.4 ms if
  // all send, and 7 to 8.5 ms if all fetch; among two, both take the same time.
  void send_run(std::size_t run, const std::vector<Pairs<Key, Value>>& arrived,
                cudaStream_t stream) const {
    for (std::size_t turn = 0; turn < arrived.size(); ++turn) {
      const std::size_t piece = (run + turn) % arrived.size();
      copy_slice(run, piece, piece, arrived[piece], stream);
    }
  }

  // The arguments of a merge of a piece.
  struct PieceMerge {
    Pairs<Key, Value> arrived;  // by fetch_piece or send_run
    Pairs<Key, Value> merged;
    const KeyMap<Key>& store_map;
    ScratchMemory scratch;
    cudaStream_t stream;
  };
  void merge_piece(std::size_t piece, const PieceMerge& merge) const {
    const std::vector<std::uint64_t> counts = slice_counts(piece);
    merge_elements<Key, Value>({.input = merge.arrived,
                                .slice_counts = counts.data(),
                                .slice_count = static_cast<std::uint32_t>(counts.size()),
                                .output = merge.merged,
                                .load_map = run_map_,
                                .store_map = merge.store_map,
                                .scratch = merge.scratch,
                                .stream = merge.stream});
  }

 private:
  std::vector<ShareView<Key>> views_of(const std::vector<std::vector<Key>>& fences) const {
    std::vector<ShareView<Key>> views;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto& [device, elements, count] = runs_[i];
      views.emplace_back(ordinals_[device], elements.keys, count, std::span<const Key>(fences[i]),
                         streams_[device].get(), run_map_);
    }
    return views;
  }

  std::vector<Key> fences_of(const SortedRun<Key, Value>& run, Key* memory,
                             cudaStream_t stream) const {
    const std::uint64_t step = fence_step(run.count);
    std::vector<Key> fences(div_up(run.count, step));
    launch_fences(run.elements.keys, run.count, step, memory, stream);
    check_cuda(cudaMemcpyAsync(fences.data(), memory, fences.size() * sizeof(Key),
                               cudaMemcpyDeviceToHost, stream),
               CudaCall::kCopy, kSharing);
    check_cuda(cudaStreamSynchronize(stream), CudaCall::kStream, kSharing);
    for (Key& fence : fences) fence = run_map_.to_ordered(fence);
    return fences;
  }

  // How many elements each run gives to the piece.
  [[nodiscard]] std::vector<std::uint64_t> slice_counts(std::size_t piece) const {
    std::vector<std::uint64_t> counts(runs_.size());
    for (std::size_t run = 0; run < counts.size(); ++run) {
      counts[run] = cuts_[piece + 1][run] - cuts_[piece][run];
    }
    return counts;
  }

  // Queues a copy of the slice of a run to its place among the slices of the piece at `to`, in
  // memory of the device.
  void copy_slice(std::size_t run, std::size_t piece, std::size_t device,
                  const Pairs<Key, Value>& to, cudaStream_t stream) const {
    const std::vector<std::uint64_t> counts = slice_counts(piece);
    const std::uint64_t before = std::accumulate(
        counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(run), std::uint64_t{0});
    const auto slice = behind(runs_[run].elements, cuts_[piece][run]);
    const auto place = behind(to, before);
    const int from = ordinals_[runs_[run].device];
    copy(place.keys, ordinals_[device], slice.keys, from, counts[run], stream);
    if constexpr (kHasValues<Value>) {
      copy(place.values, ordinals_[device], slice.values, from, counts[run], stream);
    }
  }

  template <class T>
  static void copy(T* to, int to_ordinal, const T* from, int from_ordinal, std::uint64_t count,
                   cudaStream_t stream) {
    if (count == 0) return;
    const std::size_t bytes = count * sizeof(T);
    const cudaError_t result =
        to_ordinal == from_ordinal
            ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
            : cudaMemcpyPeerAsync(to, to_ordinal, from, from_ordinal, bytes, stream);
    check_cuda(result, CudaCall::kCopy, "copying sorted keys between devices");
  }

  std::vector<int> ordinals_;
  KeyMap<Key> run_map_;
  std::vector<StreamOf> streams_;
  std::vector<SortedRun<Key, Value>> runs_;
  std::vector<std::vector<std::uint64_t>> cuts_;  // of each bound: of each run
};

}  // namespace gsort::gpu
