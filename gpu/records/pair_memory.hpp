// What calls on pairs require of their memory. Each throws Error(kUsage) naming `operation`. Host
// code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/merge/device_arrays.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// An output of `count` pairs, its arrays apart from each other and from scratch memory.
template <class Key, class Value>
void require_output(Pairs<Key, Value> output, std::uint64_t count, const ScratchMemory& scratch,
                    std::size_t scratch_needed, const char* operation) {
  const std::uint64_t key_bytes = count * sizeof(Key);
  const std::uint64_t value_bytes = count * sizeof(Value);
  require_memory(output.keys, key_bytes, sizeof(Key), operation, "the output's keys");
  require_memory(output.values, value_bytes, sizeof(Value), operation, "the output's values");
  require_apart(output.keys, key_bytes, output.values, value_bytes, operation,
                "the output's keys and values");
  require_scratch(scratch, scratch_needed, operation);
  require_apart(output.keys, key_bytes, scratch.memory, scratch_needed, operation,
                "the output's keys and scratch memory");
  require_apart(output.values, value_bytes, scratch.memory, scratch_needed, operation,
                "the output's values and scratch memory");
}

// An input of `count` pairs, apart from all that is written: `output` of total pairs, and scratch.
template <class Key, class Value>
void require_input_apart(ConstPairs<Key, Value> input, std::uint64_t count,
                         Pairs<Key, Value> output, std::uint64_t total, const void* scratch,
                         std::size_t scratch_bytes, const char* operation) {
  const std::uint64_t key_bytes = count * sizeof(Key);
  const std::uint64_t value_bytes = count * sizeof(Value);
  require_memory(input.keys, key_bytes, sizeof(Key), operation, "an input's keys");
  require_memory(input.values, value_bytes, sizeof(Value), operation, "an input's values");
  const auto apart = [&](const void* written, std::uint64_t bytes, const char* key_names,
                         const char* value_names) {
    require_apart(input.keys, key_bytes, written, bytes, operation, key_names);
    require_apart(input.values, value_bytes, written, bytes, operation, value_names);
  };
  apart(output.keys, total * sizeof(Key), "the keys of input and output",
        "the input's values and the output's keys");
  apart(output.values, total * sizeof(Value), "the input's keys and the output's values",
        "the values of input and output");
  apart(scratch, scratch_bytes, "the input's keys and scratch memory",
        "the input's values and scratch memory");
}

// A sort's arrays: as above, but each output may be its input.
template <class Key, class Value>
void require_arrays_to_sort(ConstPairs<Key, Value> input, Pairs<Key, Value> output,
                            std::uint64_t count, const void* scratch, std::size_t scratch_bytes,
                            const char* operation) {
  // An input that is its output has been checked as the output.
  const std::uint64_t key_bytes = input.keys == output.keys ? 0 : count * sizeof(Key);
  const std::uint64_t value_bytes = input.values == output.values ? 0 : count * sizeof(Value);
  require_memory(input.keys, key_bytes, sizeof(Key), operation, "the input's keys");
  require_memory(input.values, value_bytes, sizeof(Value), operation, "the input's values");
  const auto apart = [&](const void* written, std::uint64_t bytes, const char* names) {
    require_apart(input.keys, key_bytes, written, bytes, operation, names);
    require_apart(input.values, value_bytes, written, bytes, operation, names);
  };
  apart(output.keys, count * sizeof(Key), "an input and the output's keys");
  apart(output.values, count * sizeof(Value), "an input and the output's values");
  apart(scratch, scratch_bytes, "an input and scratch memory");
}

}  // namespace gsort::gpu
