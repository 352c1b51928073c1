// Fetches memory in advance, for loops that read a stretch at a time and work on it for long: the
// processor does not see the reads of the next stretch in time, and fetches ahead by itself only
// within a page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gsort::cpu {

// Measured on Zen 5 and on an Intel Xeon: 2 KiB saves most of what 4 KiB saves.
inline constexpr std::size_t kReadAheadBytes = 4096;

// Begins to fetch the bytes. Any address is allowed: memory that does not exist is not fetched.
inline void fetch_bytes(std::uintptr_t address, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(address + at));
  }
}

// Call these where `bytes` bytes at `at` have been read; the loop moves to higher addresses.
inline void read_ahead(const void* at, std::size_t bytes, std::size_t ahead = kReadAheadBytes) {
  fetch_bytes(reinterpret_cast<std::uintptr_t>(at) + ahead, bytes);
}

// The same for a loop that moves to lower addresses.
inline void read_ahead_down(const void* at, std::size_t bytes) {
  fetch_bytes(reinterpret_cast<std::uintptr_t>(at) - kReadAheadBytes, bytes);
}

}  // namespace gsort::cpu
