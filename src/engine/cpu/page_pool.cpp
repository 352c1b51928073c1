#include "engine/cpu/page_pool.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace gsort::cpu {
namespace {

Error ran_out() {
  return {ErrorKind::kResource, "sorting a chunk", "the memory planned for it ran out"};
}

}  // namespace

PagePool::PagePool(ByteSpan memory, std::size_t page_bytes, std::size_t pages_at_once)
    : memory_(memory),
      page_bytes_(page_bytes),
      pages_at_once_(pages_at_once),
      next_(memory.size() / page_bytes, kNone) {
  reset();
}

std::size_t PagePool::take(std::span<Page> pages) {
  if (any_returned_.load(std::memory_order_relaxed)) {
    const std::scoped_lock lock(mutex_);
    const std::size_t count = std::min(pages.size(), returned_.size());
    std::copy_n(returned_.rbegin(), count, pages.begin());
    returned_.resize(returned_.size() - count);
    if (returned_.empty()) any_returned_.store(false, std::memory_order_relaxed);
    if (count > 0) return count;
  }
  std::uint64_t range = untouched_.load(std::memory_order_relaxed);
  Page count = 0;
  do {
    const Page left = Range::end(range) - Range::begin(range);
    count = static_cast<Page>(std::min<std::size_t>(pages.size(), left));
    if (count == 0) throw ran_out();
  } while (!untouched_.compare_exchange_weak(range, range + count, std::memory_order_relaxed));
  std::iota(pages.begin(), pages.begin() + count, Range::begin(range));
  return count;
}

void PagePool::give_back(std::span<const Page> pages) {
  if (pages.empty()) return;
  const std::scoped_lock lock(mutex_);
  returned_.insert(returned_.end(), pages.begin(), pages.end());
  any_returned_.store(true, std::memory_order_relaxed);
}

ByteSpan PagePool::take_stretch(Page count) {
  std::uint64_t range = untouched_.load(std::memory_order_relaxed);
  std::uint64_t rest = 0;
  do {
    if (std::uint64_t{Range::begin(range)} + count > Range::end(range)) throw ran_out();
    rest = Range::of(Range::begin(range), Range::end(range) - count);
  } while (!untouched_.compare_exchange_weak(range, rest, std::memory_order_relaxed));
  return memory_.subspan(std::size_t{Range::end(rest)} * page_bytes_, count * page_bytes_);
}

void PagePool::reset() {
  returned_.clear();
  any_returned_ = false;
  untouched_ = Range::of(0, static_cast<Page>(next_.size()));
}

}  // namespace gsort::cpu
