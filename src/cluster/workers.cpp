#include "cluster/workers.hpp"

#include "base/thread.hpp"

namespace gsort::cluster {

Workers::Workers(const std::vector<ByteSpan>& scratch, unsigned mergers) {
  try {
    for (const ByteSpan buffer : scratch) {
      threads_.push_back(start_thread("loading slices", [this, buffer] { work(loads_, buffer); }));
    }
    for (unsigned i = 0; i < mergers; ++i) {
      threads_.push_back(start_thread("merging", [this] { work(merges_, {}); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

Workers::~Workers() {
  stop();
}

void Workers::stop() {
  stopped_ = true;
  loads_.close();
  merges_.close();
}

std::optional<Workers::Completion> Workers::finished() {
  if (failure_.failed()) failure_.rethrow();
  auto completion = finished_.try_pop();
  if (completion) --unfinished_;
  return completion;
}

void Workers::work(BlockingQueue<Task>& tasks, ByteSpan scratch) {
  while (auto task = tasks.pop()) {
    if (stopped_ || failure_.failed()) continue;
    try {
      finished_.push((*task)(scratch));
    } catch (...) {
      failure_.capture();
    }
  }
}

}  // namespace gsort::cluster
