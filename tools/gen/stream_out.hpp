// Carries generated blocks to a file or a pipe from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace gsort {

// Fills `block` with the bytes from `offset` on. Thread-safe.
using MakeBlock = std::function<void(std::uint64_t offset, std::span<std::byte> block)>;

// Writes `total_bytes` made by `make` to `path`, or to stdout for "-". A regular file is created or
// cut to nothing and written in any order; whatever else is written in order.
// Throws: Error(kOutput); what was written so far stays.
void stream_out(const std::string& path, std::uint64_t total_bytes, unsigned threads,
                const MakeBlock& make);

}  // namespace gsort
