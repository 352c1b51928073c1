// Checks of callers' memory for sorts over several devices. Throws: Error(kUsage).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/share_elements.hpp"

namespace gsort::gpu {

inline void require_devices(std::size_t devices, const char* operation) {
  if (devices > 0) return;
  throw Error(ErrorKind::kUsage, operation, "no devices were given");
}

// The memory of one call, on all devices.
class MemoryOfCall {
 public:
  explicit MemoryOfCall(const char* operation) : operation_(operation) {}

  // Requires: count * sizeof(T) does not overflow.
  template <class T>
  void add(const T* array, std::uint64_t count, const char* name) {
    const std::uint64_t bytes = count * sizeof(T);
    require_memory(array, bytes, sizeof(T), operation_, name);
    take(array, bytes);
  }
  void add_scratch(const ScratchMemory& scratch, std::size_t need_bytes) {
    require_scratch(scratch, need_bytes, operation_);
    take(scratch.memory, need_bytes);
  }
  // If any two arrays overlap, then so do two neighbours.
  void require_all_apart() {
    std::ranges::sort(arrays_, {}, &ConstByteSpan::data);
    for (std::size_t i = 1; i < arrays_.size(); ++i) {
      require_apart(arrays_[i - 1].data(), arrays_[i - 1].size(), arrays_[i].data(),
                    arrays_[i].size(), operation_, "the memory of shares: two arrays");
    }
  }

 private:
  void take(const void* memory, std::size_t bytes) {
    if (bytes > 0) arrays_.emplace_back(static_cast<const std::byte*>(memory), bytes);
  }

  const char* operation_;
  std::vector<ConstByteSpan> arrays_;
};

// Either array of the output may be that of the input.
template <class Key, class Value>
void require_host_arrays(const HostPairSort<Key, Value>& host, const char* operation) {
  if constexpr (kHasValues<Value>) {
    if (host.takes_numbers) {
      const std::array inputs{extent_of(host.input.keys, host.count, kInput.keys)};
      const std::array outputs{extent_of(host.output.values, host.count, kOutput.values)};
      return require_call_memory({inputs, outputs, false, {}, 0, operation});
    }
  }
  const auto inputs = extents_of(host.input, host.count, kInput);
  const auto outputs = extents_of(host.output, host.count);
  require_call_memory({inputs, outputs, true, {}, 0, operation});
}

}  // namespace gsort::gpu
