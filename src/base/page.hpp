// The smallest page of memory; ARM64 kernels may have pages of 16 or 64 KiB, see
// io/system/memory.hpp. It is also the alignment of offsets, lengths and addresses that O_DIRECT
// needs on any common disk and file system.
#pragma once

#include <cstdint>

namespace gsort {

inline constexpr std::uint64_t kMemoryPageBytes = 4096;

}  // namespace gsort
