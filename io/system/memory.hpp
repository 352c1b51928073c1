// Arena: one large stretch of anonymous memory, in huge pages if the kernel has them; the
// destructor gives it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/system/bytes.hpp"

namespace gsort::io {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Move-only. The memory starts at a multiple of kHugePageBytes, is zero, and is not touched: a page
// is in use only after the first write to it. Many threads should make these first writes (they
// cost 0.4 to 1 s a GB on one thread).
class Arena {
 public:
  Arena() = default;
  // `purpose` is the noun in the message: "4 GiB for sorting"; `hint` is the hint of the Error.
  // Throws: Error(kResource) if the system refuses that much memory.
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

// The page size of this system: 4 KiB, or 16 or 64 KiB on some ARM64 kernels.
[[nodiscard]] std::uint64_t memory_page_bytes() noexcept;

// The whole pages in `memory`, perhaps none. Requires: the page size is a power of two.
[[nodiscard]] ByteSpan whole_pages_of(ByteSpan memory, std::uint64_t page_bytes) noexcept;

// From now on, whole pages of `memory` come from the NUMA node at their first use, while it has
// free ones. Returns false if the kernel refuses this; then the sort only takes longer.
bool prefer_node(ByteSpan memory, unsigned node) noexcept;

}  // namespace gsort::io
