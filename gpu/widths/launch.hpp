// The launches of key_words.cu. Each queues one kernel on `stream` and checks the launch. Throws:
// Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// words[i] = the ordered number of key i.
template <class Key>
void launch_widen(const Key* keys, std::uint64_t count, const KeyMap<Key>& map,
                  std::uint32_t* words, cudaStream_t stream);

// keys[i] = the key of the ordered number words[i].
template <class Key>
void launch_narrow(const std::uint32_t* words, std::uint64_t count, const KeyMap<Key>& map,
                   Key* keys, cudaStream_t stream);

}  // namespace gsort::gpu
