#include "late_streams.hpp"

#include <stdexcept>
#include <utility>

namespace emulator {

void LateStreams::add_step(const void* stream, Step step) {
  const std::scoped_lock lock(mutex_);
  queues_[stream].push_back(std::move(step));
}

void LateStreams::add(const void* stream, std::function<void()> work) {
  add_step(stream, {std::move(work), nullptr});
}

void LateStreams::add_wait(const void* stream, const Flag& flag) {
  if (flag != nullptr) add_step(stream, {[] {}, flag});
}

Flag LateStreams::record(const void* stream) {
  auto flag = std::make_shared<bool>(false);
  add(stream, [flag] { *flag = true; });
  return flag;
}

void LateStreams::finish(const void* stream) {
  const std::scoped_lock lock(mutex_);
  while (!queues_[stream].empty()) run_one();
}

void LateStreams::finish(const Flag& flag) {
  if (flag == nullptr) return;
  const std::scoped_lock lock(mutex_);
  while (!*flag) run_one();
}

void LateStreams::finish_all() {
  const std::scoped_lock lock(mutex_);
  while (!ready().empty()) run_one();
}

void LateStreams::forget(const void* stream) {
  const std::scoped_lock lock(mutex_);
  const auto found = queues_.find(stream);
  if (found == queues_.end()) return;
  std::erase_if(forgotten_, [](const Queue& queue) { return queue.empty(); });
  forgotten_.push_back(std::move(found->second));
  queues_.erase(found);
}

std::vector<LateStreams::Queue*> LateStreams::ready() {
  std::vector<Queue*> queues;
  const auto take = [&](Queue& queue) {
    if (queue.empty()) return;
    const Flag& flag = queue.front().waits_for;
    if (flag == nullptr || *flag) queues.push_back(&queue);
  };
  for (auto& [stream, queue] : queues_) take(queue);
  for (Queue& queue : forgotten_) take(queue);
  return queues;
}

void LateStreams::run_one() {
  const std::vector<Queue*> queues = ready();
  if (queues.empty()) throw std::logic_error("a stream waits for what is not queued");
  Queue& queue = *queues[random_() % queues.size()];
  const Step step = std::move(queue.front());
  queue.pop_front();
  step.work();
}

}  // namespace emulator
