#include "engine/cpu/page_pool.hpp"

#include "base/error.hpp"

namespace gsort::cpu {
namespace {

Error ran_out() {
  return {ErrorKind::kResource, "sorting a chunk", "the memory planned for it ran out"};
}

}  // namespace

PagePool::PagePool(ByteSpan memory, std::size_t page_bytes)
    : memory_(memory), page_bytes_(page_bytes), next_(memory.size() / page_bytes, kNone) {
  reset();
}

PagePool::Page PagePool::take() {
  if (any_returned_.load(std::memory_order_relaxed)) {
    const std::scoped_lock lock(mutex_);
    if (!returned_.empty()) {
      const Page page = returned_.back();
      returned_.pop_back();
      if (returned_.empty()) any_returned_.store(false, std::memory_order_relaxed);
      return page;
    }
  }
  const std::uint64_t range = untouched_.fetch_add(1, std::memory_order_relaxed);
  if (Range::begin(range) >= Range::end(range)) {
    untouched_.fetch_sub(1, std::memory_order_relaxed);
    throw ran_out();
  }
  return Range::begin(range);
}

void PagePool::give_back(Page page) {
  const std::scoped_lock lock(mutex_);
  returned_.push_back(page);
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
