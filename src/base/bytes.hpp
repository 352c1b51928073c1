// Spans of bytes without a type, and numbers of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gsort {

using ByteSpan = std::span<std::byte>;
using ConstByteSpan = std::span<const std::byte>;

inline constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;

}  // namespace gsort
