// Spans of bytes: what is read, sorted and written, before anybody knows what it means.
#pragma once

#include <cstddef>
#include <span>

namespace gsort {

using ByteSpan = std::span<std::byte>;
using ConstByteSpan = std::span<const std::byte>;

}  // namespace gsort
