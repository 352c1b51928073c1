// What sorts over several devices require of their callers' memory. Throws: Error(kUsage).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "gpu/cuda/cuda_check.hpp"
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

template <class T>
void require_input_and_output(const T* input, const T* output, std::uint64_t count,
                              const char* operation) {
  const std::uint64_t bytes = count * sizeof(T);
  require_memory(input, bytes, sizeof(T), operation, "the input");
  require_memory(output, bytes, sizeof(T), operation, "the output");
  if (input == output) return;
  require_apart(input, bytes, output, bytes, operation, "input and output");
}

template <class Key, class Value>
void require_host_arrays(const HostPairSort<Key, Value>& host, const char* operation) {
  const Key* const keys_out = host.takes_numbers ? host.input.keys : host.output.keys;
  require_input_and_output<Key>(host.input.keys, keys_out, host.count, operation);
  if constexpr (kHasValues<Value>) {
    const Value* const values_out = host.output.values;
    const Value* const values_in = host.takes_numbers ? values_out : host.input.values;
    require_input_and_output<Value>(values_in, values_out, host.count, operation);
    const auto require_apart_from = [&](const Key* keys, const Value* values, const char* names) {
      require_apart(keys, host.count * sizeof(Key), values, host.count * sizeof(Value), operation,
                    names);
    };
    require_apart_from(host.input.keys, values_out, "the input's keys and the output's values");
    require_apart_from(keys_out, values_in, "the output's keys and the input's values");
    require_apart_from(keys_out, values_out, "the output's keys and values");
  }
}

}  // namespace gsort::gpu
