// Checks of the arrays that a call is given: their memory is aligned, and no array overlaps one
// that the call writes. Throws: Error(kUsage).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::gpu {

// An array that is read or written; its name is for messages.
struct Extent {
  const void* memory = nullptr;
  std::uint64_t bytes = 0;
  std::size_t alignment = 1;
  const char* name = "";
};

template <class T>
[[nodiscard]] Extent extent_of(const T* memory, std::uint64_t count, const char* name) {
  return {memory, count * sizeof(T), sizeof(T), name};
}

// The arrays of one call.
struct CallMemory {
  std::span<const Extent> inputs;
  std::span<const Extent> outputs;
  bool in_place = false;  // output i may be input i
  ScratchMemory scratch;
  std::size_t scratch_needed = 0;
  const char* operation = "";
};

// Whether two arrays have a byte in common.
[[nodiscard]] inline bool overlap(const void* a, std::uint64_t a_bytes, const void* b,
                                  std::uint64_t b_bytes) {
  if (a_bytes == 0 || b_bytes == 0) return false;
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b);
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

inline void require_written_apart(const Extent& written, const Extent& other,
                                  const char* operation) {
  if (!overlap(written.memory, written.bytes, other.memory, other.bytes)) return;
  throw Error(ErrorKind::kUsage, operation,
              std::string(written.name) + " and " + other.name + " overlap");
}

// Inputs may overlap each other.
inline void require_call_memory(const CallMemory& call) {
  require_scratch(call.scratch, call.scratch_needed, call.operation);
  const Extent scratch{call.scratch.memory, call.scratch_needed, kScratchAlignment,
                       "scratch memory"};
  const auto require_usable = [&](const Extent& array) {
    require_memory(array.memory, array.bytes, array.alignment, call.operation, array.name);
    require_written_apart(scratch, array, call.operation);
  };
  for (const Extent& input : call.inputs) require_usable(input);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const Extent& output = call.outputs[i];
    require_usable(output);
    for (std::size_t k = 0; k < call.inputs.size(); ++k) {
      if (call.in_place && i == k && output.memory == call.inputs[k].memory) continue;
      require_written_apart(output, call.inputs[k], call.operation);
    }
    for (std::size_t k = 0; k < i; ++k) {
      require_written_apart(call.outputs[k], output, call.operation);
    }
  }
}

}  // namespace gsort::gpu
