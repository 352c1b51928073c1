// Stores of whole cache lines past the cache, for data that is not needed soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gsort::cpu {

inline constexpr std::size_t kCacheLineBytes = 64;

// Copies one cache line past the cache; `to` is aligned to it.
inline void store_line_past_cache(const void* from, void* to) {
#if defined(__SSE2__)
  const auto* const source = static_cast<const __m128i*>(from);
  auto* const target = static_cast<__m128i*>(to);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
#else
  std::memcpy(to, from, kCacheLineBytes);
#endif
}

// The same for several cache lines.
inline void store_past_cache(const void* from, void* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kCacheLineBytes) {
    store_line_past_cache(static_cast<const std::byte*>(from) + at,
                          static_cast<std::byte*>(to) + at);
  }
}

// Makes the stores visible to other threads: call it before they read the data.
inline void finish_stores_past_cache() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace gsort::cpu
