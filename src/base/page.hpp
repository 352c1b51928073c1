// A page of memory. Whole pages are also what O_DIRECT asks of offsets, lengths and addresses on
// any common disk and file system.
#pragma once

#include <cstdint>

namespace gsort {

inline constexpr std::uint64_t kMemoryPageBytes = 4096;

}  // namespace gsort
