// Types that all of io uses: spans of bytes, alignment, and the choice between the page cache and
// direct transfers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/direct_io.hpp"
#include "base/page.hpp"

namespace gsort::io {

using gsort::ByteSpan;
using gsort::ConstByteSpan;

// The alignment of offsets, lengths and addresses that O_DIRECT needs on any common disk and file
// system.
inline constexpr std::size_t kDirectAlignment = kMemoryPageBytes;

using gsort::DirectIo;
using gsort::WriteWindows;

[[nodiscard]] inline bool is_aligned(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % kDirectAlignment == 0;
}

[[nodiscard]] constexpr bool is_aligned(std::uint64_t value) noexcept {
  return value % kDirectAlignment == 0;
}

}  // namespace gsort::io
