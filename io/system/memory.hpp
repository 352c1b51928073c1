// Arena: one large stretch of anonymous memory, huge pages where the kernel has them, given back on
// destruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/system/bytes.hpp"

namespace gsort::io {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Move-only. The memory starts at a multiple of kHugePageBytes, is zero, and is not touched: no
// page of it is in use before somebody writes there, which is best done by many threads (touch
// costs 0.4 to 1 s a GB on one).
class Arena {
 public:
  Arena() = default;
  // `purpose` is the noun in the message: "4 GiB for sorting"; `hint` is that of the Error.
  // Throws: Error(kResource) when the system refuses that much.
  Arena(std::size_t bytes, std::string_view purpose,
        std::string_view hint = "give less memory with -S");
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  [[nodiscard]] ByteSpan bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.data(); }

 private:
  void release() noexcept;

  ByteSpan bytes_;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

// Of this system: 4 KiB, or 16 or 64 KiB on some ARM64 kernels.
[[nodiscard]] std::uint64_t memory_page_bytes() noexcept;

// The whole pages in `memory`, perhaps none. Requires: a power of two.
[[nodiscard]] ByteSpan whole_pages_of(ByteSpan memory, std::uint64_t page_bytes) noexcept;

// Whole pages of `memory` that are touched for the first time from now on come from the NUMA node,
// while it has free ones. Returns false where the kernel refuses that, which costs time alone.
bool prefer_node(ByteSpan memory, unsigned node) noexcept;

}  // namespace gsort::io
