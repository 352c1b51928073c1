#include "gpu/shares/host_segments.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu/merge/device_arrays.hpp"
#include "gpu/segmented/device_pair_batch.hpp"
#include "gpu/shares/share_checks.hpp"
#include "gpu/shares/shared_runs.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting arrays on several GPUs";

// One is copied in, one sorted, one copied out.
constexpr std::size_t kGroupsAtOnce = 3;
// Groups of each device: so many that devices end at about the same time.
constexpr std::uint64_t kGroupsOfDevice = 16;
// A sort of pairs takes 2^32 of them.
constexpr std::uint64_t kMostGroupKeys = std::uint64_t{1} << 30;

// Neighbouring arrays.
struct Group {
  std::uint64_t first_array = 0;
  std::uint64_t array_count = 0;
  std::uint64_t begin = 0;  // its first key
  std::uint64_t count = 0;
  std::uint64_t longest = 0;
};

std::uint64_t begin_of(const HostArrays& arrays, std::uint64_t array) {
  return arrays.offsets == nullptr ? array * arrays.array_keys : arrays.offsets[array];
}

// Requires that their bytes can be counted.
std::uint64_t require_few(std::uint64_t keys) {
  if (keys <= std::numeric_limits<std::uint64_t>::max() / sizeof(UInt128)) return keys;
  throw Error(ErrorKind::kUsage, kOperation, "too many keys");
}

std::uint64_t require_arrays(const HostArrays& arrays) {
  const auto& [array_count, array_keys, offsets] = arrays;
  if (array_count == 0) return 0;
  if (offsets == nullptr) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return require_few(array_keys > kMost / array_count ? kMost : array_keys * array_count);
  }
  require_memory(offsets, array_count, sizeof(std::uint64_t), kOperation, "the table of offsets");
  if (offsets[0] != 0 || !std::is_sorted(offsets, offsets + array_count + 1)) {
    throw Error(ErrorKind::kUsage, kOperation, "offsets must ascend from 0");
  }
  return require_few(offsets[array_count]);
}

// The most keys of a group of several arrays.
std::uint64_t keys_of_groups(const HostArrays& arrays, std::uint32_t devices,
                             std::uint64_t least_keys) {
  const std::uint64_t share = require_arrays(arrays) / std::max(devices, 1U) / kGroupsOfDevice;
  return std::clamp(share, least_keys, std::max(least_keys, kMostGroupKeys));
}

// The groups that have keys, the largest first.
std::vector<Group> groups_of(const HostArrays& arrays, std::uint64_t most_keys) {
  std::vector<Group> groups{};
  if (require_arrays(arrays) == 0) return groups;  // any number of arrays may be empty
  for (std::uint64_t array = 0; array < arrays.array_count; ++array) {
    const std::uint64_t begin = begin_of(arrays, array);
    const std::uint64_t keys = begin_of(arrays, array + 1) - begin;
    const bool has_room = !groups.empty() && groups.back().count < most_keys &&
                          keys <= most_keys - groups.back().count &&
                          groups.back().array_count < most_keys;
    if (!has_room) groups.push_back({array, 0, begin, 0, 0});
    Group& group = groups.back();
    ++group.array_count;
    group.count += keys;
    group.longest = std::max(group.longest, keys);
  }
  std::erase_if(groups, [](const Group& group) { return group.count == 0; });
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::count);
  return groups;
}

// The memory for one group. Pairs are sorted apart from where they arrive.
template <class Key, class Value>
struct GroupPlace {
  Pairs<Key, Value> arrived{};
  Pairs<Key, Value> sorted{};
  std::uint64_t* offsets = nullptr;  // from the group's first key on
  ScratchMemory scratch{};
  std::size_t bytes = 0;
};

template <class Key, class Value>
std::size_t group_sort_bytes(const Group& group, bool has_offsets) {
  const std::uint64_t array_keys = has_offsets ? 0 : group.longest;
  if constexpr (kHasValues<Value>) {
    static constexpr std::uint64_t kSome{};  // the offsets are not read
    return sort_pair_batch_scratch_bytes<Key>({.array_count = group.array_count,
                                               .array_keys = array_keys,
                                               .offsets = has_offsets ? &kSome : nullptr,
                                               .count = group.count,
                                               .longest = group.longest});
  } else if (has_offsets) {
    return sort_segmented_batch_scratch_bytes<Key>(group.array_count, group.count, group.longest);
  } else {
    return sort_batch_scratch_bytes<Key>(group.array_count, array_keys);
  }
}

template <class Key, class Value>
GroupPlace<Key, Value> cut_group(void* memory, const Group& group, bool has_offsets) {
  GroupPlace<Key, Value> place;
  ScratchCutter cutter(memory);
  place.arrived = take_elements<Key, Value>(cutter, group.count);
  place.sorted = kHasValues<Value> ? take_elements<Key, Value>(cutter, group.count) : place.arrived;
  if (has_offsets) place.offsets = cutter.take<std::uint64_t>(group.array_count + 1);
  place.scratch.bytes = group_sort_bytes<Key, Value>(group, has_offsets);
  place.scratch.memory = cutter.take<std::byte>(place.scratch.bytes);
  place.bytes = cutter.used_bytes();
  return place;
}

// Groups, largest first, and what each needs.
struct SizedGroups {
  std::uint64_t most_keys = 0;  // of a group of several arrays
  std::vector<Group> groups{};
  std::vector<std::size_t> bytes{};
};

template <class Key, class Value>
SizedGroups sized_groups(const HostArrays& arrays, std::uint32_t devices,
                         std::uint64_t least_keys) {
  SizedGroups sized{.most_keys = keys_of_groups(arrays, devices, least_keys)};
  sized.groups = groups_of(arrays, sized.most_keys);
  for (const Group& group : sized.groups) {
    const bool has_offsets = arrays.offsets != nullptr;
    sized.bytes.push_back(cut_group<Key, Value>(nullptr, group, has_offsets).bytes);
  }
  return sized;
}

// Which groups are left. Thread-safe.
class GroupsLeft {
 public:
  explicit GroupsLeft(const SizedGroups& all) : all_(all), is_taken_(all.groups.size(), false) {}

  // The largest one that needs at most `bytes`.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < is_taken_.size() && !is_stopped_; ++i) {
      if (is_taken_[i] || all_.bytes[i] > bytes) continue;
      is_taken_[i] = true;
      return i;
    }
    return std::nullopt;
  }
  void stop() {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
  }

 private:
  const SizedGroups& all_;
  std::mutex mutex_;
  std::vector<bool> is_taken_;
  bool is_stopped_ = false;
};

// A stream, the part of a device's memory that it works in, and offsets that are on their way: it
// lives until its work is done.
struct GroupLane {
  Stream stream{};
  std::vector<std::uint64_t> offsets{};
};
using GroupLanes = std::array<GroupLane, kGroupsAtOnce>;

template <class Key, class Value>
class SegmentSort {
 public:
  SegmentSort(const HostSegmentSort<Key, Value>& host, const SizedGroups& groups)
      : host_(host), groups_(groups), left_(groups) {}

  // Takes groups as long as there are some that fit.
  void sort_on(const SharingDevice& device) {
    use_device(device.ordinal);
    std::optional<GroupLanes> lanes;
    try {
      sort_groups(device.scratch, lanes.emplace());
    } catch (...) {
      left_.stop();
      static_cast<void>(cudaDeviceSynchronize());  // copies may be under way
      throw;
    }
  }

 private:
  void sort_groups(const ScratchMemory& memory, GroupLanes& lanes) {
    const std::size_t lane_bytes =
        memory.bytes / kGroupsAtOnce / kScratchAlignment * kScratchAlignment;
    std::size_t turn = 0;
    while (const auto taken = left_.take(memory.bytes)) {
      const Group& group = groups_.groups[*taken];
      const bool takes_all = groups_.bytes[*taken] > lane_bytes;
      GroupLane& lane = lanes[takes_all ? 0 : turn];
      wait_for(takes_all ? std::span(lanes) : std::span(&lane, 1));
      auto* const begin = static_cast<std::byte*>(memory.memory);
      sort_group(group, begin + (takes_all ? 0 : turn * lane_bytes), lane);
      if (takes_all) lane.stream.wait(kOperation);
      turn = (turn + 1) % kGroupsAtOnce;
    }
    wait_for(lanes);
  }

  static void wait_for(std::span<const GroupLane> lanes) {
    for (const GroupLane& lane : lanes) lane.stream.wait(kOperation);
  }

  void sort_group(const Group& group, void* memory, GroupLane& lane) const {
    const bool has_offsets = host_.arrays.offsets != nullptr;
    const auto place = cut_group<Key, Value>(memory, group, has_offsets);
    if (has_offsets) send_offsets(group, place.offsets, lane);
    const cudaStream_t stream = lane.stream.get();
    copy(place.arrived.keys, host_.input.keys + group.begin, group.count, cudaMemcpyHostToDevice,
         stream);
    if constexpr (kHasValues<Value>) {
      if (!host_.takes_numbers) {
        copy(place.arrived.values, host_.input.values + group.begin, group.count,
             cudaMemcpyHostToDevice, stream);
      }
    }
    sort_arrays(group, place, stream);
    if (!host_.takes_numbers) {
      copy(host_.output.keys + group.begin, place.sorted.keys, group.count, cudaMemcpyDeviceToHost,
           stream);
    }
    if constexpr (kHasValues<Value>) {
      copy(host_.output.values + group.begin, place.sorted.values, group.count,
           cudaMemcpyDeviceToHost, stream);
    }
  }

  void send_offsets(const Group& group, std::uint64_t* to, GroupLane& lane) const {
    const std::uint64_t* const first = host_.arrays.offsets + group.first_array;
    lane.offsets.resize(group.array_count + 1);
    std::transform(first, first + lane.offsets.size(), lane.offsets.begin(),
                   [&](std::uint64_t offset) { return offset - group.begin; });
    copy(to, lane.offsets.data(), lane.offsets.size(), cudaMemcpyHostToDevice, lane.stream.get());
  }

  void sort_arrays(const Group& group, const GroupPlace<Key, Value>& place,
                   cudaStream_t stream) const {
    const std::uint64_t array_keys = place.offsets == nullptr ? group.longest : 0;
    if constexpr (kHasValues<Value>) {
      sort_pair_batch<Key, Value>(
          {.keys_in = place.arrived.keys,
           .keys_out = host_.takes_numbers ? nullptr : place.sorted.keys,
           .values_in = host_.takes_numbers ? nullptr : place.arrived.values,
           .values_out = place.sorted.values,
           .takes_numbers = host_.takes_numbers,
           .arrays = {.array_count = group.array_count,
                      .array_keys = array_keys,
                      .offsets = place.offsets,
                      .count = group.count,
                      .longest = group.longest},
           .map = host_.map,
           .scratch = place.scratch,
           .stream = stream});
    } else if (place.offsets != nullptr) {
      sort_segmented_batch<Key>({.input = place.arrived.keys,
                                 .output = place.sorted.keys,
                                 .offsets = place.offsets,
                                 .array_count = group.array_count,
                                 .count = group.count,
                                 .longest = group.longest,
                                 .load_map = host_.map,
                                 .store_map = host_.map,
                                 .scratch = place.scratch,
                                 .stream = stream});
    } else {
      sort_batch<Key>({.input = place.arrived.keys,
                       .output = place.sorted.keys,
                       .array_count = group.array_count,
                       .array_keys = array_keys,
                       .load_map = host_.map,
                       .store_map = host_.map,
                       .scratch = place.scratch,
                       .stream = stream});
    }
  }

  template <class T>
  static void copy(T* to, const T* from, std::uint64_t count, cudaMemcpyKind kind,
                   cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream), CudaCall::kCopy,
               kOperation);
  }

  const HostSegmentSort<Key, Value>& host_;
  const SizedGroups& groups_;
  GroupsLeft left_;
};

void require_room(const SizedGroups& groups, std::span<const SharingDevice> devices) {
  MemoryOfCall memory(kOperation);
  for (const auto& [ordinal, scratch] : devices) memory.add_scratch(scratch, scratch.bytes);
  memory.require_all_apart();
  const auto bytes_of = [](const SharingDevice& device) { return device.scratch.bytes; };
  const auto& [ordinal, most] = *std::ranges::max_element(devices, {}, bytes_of);
  for (const std::size_t bytes : groups.bytes) require_scratch(most, bytes, kOperation);
}

}  // namespace

template <class Key, class Value>
std::size_t host_segments_scratch_bytes(const HostArrays& arrays, std::uint32_t devices,
                                        std::uint64_t least_group_keys) {
  const auto sized = sized_groups<Key, Value>(arrays, devices, least_group_keys);
  std::size_t most = 0;
  for (std::size_t i = 0; i < sized.bytes.size(); ++i) {
    const bool is_long = sized.groups[i].count > sized.most_keys;
    const std::size_t lanes = is_long ? 1 : kGroupsAtOnce;
    most = std::max(most, lanes * round_up(sized.bytes[i], kScratchAlignment));
  }
  return most;
}

template <class Key, class Value>
void sort_host_segments(const HostSegmentSort<Key, Value>& sort,
                        std::span<const SharingDevice> devices) {
  require_devices(devices.size(), kOperation);
  const HostPairSort<Key, Value> all{.input = sort.input,
                                     .output = sort.output,
                                     .count = require_arrays(sort.arrays),
                                     .takes_numbers = sort.takes_numbers};
  require_host_arrays(all, kOperation);
  const auto number = static_cast<std::uint32_t>(devices.size());
  const auto groups = sized_groups<Key, Value>(sort.arrays, number, sort.least_group_keys);
  require_room(groups, devices);
  SegmentSort<Key, Value> on_devices(sort, groups);
  keep_device_during(
      [&] { run_workers(number, [&](unsigned device) { on_devices.sort_on(devices[device]); }); });
}

#define GSORT_INSTANTIATE(Key, Value)                                                            \
  template std::size_t host_segments_scratch_bytes<Key, Value>(const HostArrays&, std::uint32_t, \
                                                               std::uint64_t);                   \
  template void sort_host_segments(const HostSegmentSort<Key, Value>&,                           \
                                   std::span<const SharingDevice>);
GSORT_INSTANTIATE(std::uint32_t, NoValue)
GSORT_INSTANTIATE(std::uint64_t, NoValue)
GSORT_INSTANTIATE(std::uint32_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint32_t, std::uint64_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint64_t)
#undef GSORT_INSTANTIATE

}  // namespace gsort::gpu
