// PagePool: a stretch of memory cut into pages of one size, with a link from each page to the next
// of its chain. Pages are handed out in address order, stretches of several pages from the other
// end, so memory that is never needed is never touched. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {

class PagePool {
 public:
  using Page = std::uint32_t;
  static constexpr Page kNone = ~Page{0};

  // Requires: page_bytes is a power of two; memory is aligned to it and outlives the pool.
  PagePool(ByteSpan memory, std::size_t page_bytes,
           std::size_t pages_at_once = CpuChunkFootprint::kLeastPagesAtOnce);

  [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }
  [[nodiscard]] std::size_t pages_at_once() const { return pages_at_once_; }  // to take
  [[nodiscard]] std::byte* address_of(Page page) const {
    return memory_.data() + std::size_t{page} * page_bytes_;
  }
  [[nodiscard]] Page page_at(const std::byte* address) const {
    return static_cast<Page>(static_cast<std::size_t>(address - memory_.data()) / page_bytes_);
  }

  // The page after `page` in its chain; only the chain's owner reads and writes it.
  [[nodiscard]] Page next(Page page) const { return next_[page]; }
  void link(Page page, Page next) { next_[page] = next; }

  // Takes up to pages.size() pages; returns how many. It takes several at once, because all cores
  // want pages, and neighbours' links share a cache line. Throws: Error(kResource) if no page is
  // left; the plan's footprint makes that impossible.
  [[nodiscard]] std::size_t take(std::span<Page> pages);
  void give_back(std::span<const Page> pages);

  // Takes `count` contiguous pages. Throws: as take().
  [[nodiscard]] ByteSpan take_stretch(Page count);

  // Makes all pages free again. Not thread-safe.
  void reset();

 private:
  // The pages [begin, end) in one number, so that both ends move as one.
  struct Range {
    static constexpr std::uint64_t of(Page begin, Page end) {
      return std::uint64_t{end} << 32 | begin;
    }
    static constexpr Page begin(std::uint64_t range) { return static_cast<Page>(range); }
    static constexpr Page end(std::uint64_t range) { return static_cast<Page>(range >> 32); }
  };

  // Separates data that all cores read for every line of keys from data that they write for pages.
  static constexpr std::size_t kCacheLine = 64;

  alignas(kCacheLine) ByteSpan memory_;
  std::size_t page_bytes_;
  std::size_t pages_at_once_;
  std::vector<Page> next_;
  alignas(kCacheLine) std::atomic<std::uint64_t> untouched_;  // a Range
  std::mutex mutex_;
  std::vector<Page> returned_;
  std::atomic<bool> any_returned_{false};
};

}  // namespace gsort::cpu
