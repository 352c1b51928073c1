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
// truncated and written in any order; other files are written in order. Throws: Error(kOutput);
// bytes written so far stay.
void stream_out(const std::string& path, std::uint64_t total_bytes, unsigned threads,
                const MakeBlock& make);

}  // namespace gsort
