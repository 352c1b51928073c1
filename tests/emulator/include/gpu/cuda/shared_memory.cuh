// In place of gpu/cuda/shared_memory.cuh: addresses count from the begin of the block's dynamic
// memory.
#pragma once

#include <cstring>

#include "emulator.hpp"

namespace gsort::gpu {

template <class Word>
unsigned shared_address(const Word* word) {
  return emulator::shared_address(word);
}

template <unsigned kOffset = 0, class Key>
void thread_load_shared(unsigned address, Key& key) {
  std::memcpy(&key, emulator::shared_memory(address + kOffset, sizeof(Key)), sizeof(Key));
}

}  // namespace gsort::gpu
