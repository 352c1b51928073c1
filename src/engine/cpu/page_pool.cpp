#include "engine/cpu/page_pool.hpp"

#include "base/error.hpp"

namespace gsort::cpu {

PagePool::PagePool(ByteSpan memory, std::size_t page_bytes)
    : memory_(memory), page_bytes_(page_bytes), next_(memory.size() / page_bytes, kNone) {}

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
  const Page page = untouched_.fetch_add(1, std::memory_order_relaxed);
  if (page >= next_.size()) {
    untouched_.store(static_cast<Page>(next_.size()), std::memory_order_relaxed);
    throw Error(ErrorKind::kResource, "sorting a chunk", "the memory planned for it ran out");
  }
  return page;
}

void PagePool::give_back(Page page) {
  const std::scoped_lock lock(mutex_);
  returned_.push_back(page);
  any_returned_.store(true, std::memory_order_relaxed);
}

void PagePool::reset() {
  returned_.clear();
  any_returned_ = false;
  untouched_ = 0;
}

}  // namespace gsort::cpu
