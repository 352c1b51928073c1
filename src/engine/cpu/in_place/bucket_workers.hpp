// BucketWorkers: the workers that sort the buckets of an array, each with its own memory. A large
// bucket is sorted by all workers, any other bucket by one of them. Tasks are passed by reference
// (std::cref), because std::function may need memory for a copy of a task.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "base/tasks.hpp"
#include "base/units.hpp"
#include "engine/cpu/in_place/whole_array.hpp"

namespace gsort::cpu {

template <class Memory>
class BucketWorkers {
 public:
  // One worker, or all of them.
  using Some = std::span<Memory>;

  // For `count` elements.
  BucketWorkers(std::size_t count, unsigned workers)
      : tasks_(workers), share_(div_up(count, tasks_.workers())) {}

  // Makes the memory of each worker. Call this once, before any use of workers.
  template <class Argument, class... Arguments>
  void make(const Argument& first, const Arguments&... others) {
    for (std::size_t worker = 0; worker < count(); ++worker) {
      memory_.emplace_back(first, others...);
      free_.push_back(worker);
    }
  }

  [[nodiscard]] TaskArena& tasks() { return tasks_; }
  [[nodiscard]] std::size_t count() const { return tasks_.workers(); }
  [[nodiscard]] Some all() { return memory_; }
  // The number of a worker; 0 for all of them.
  [[nodiscard]] std::size_t number_of(Some workers) const {
    return static_cast<std::size_t>(workers.data() - memory_.data());
  }

  // Calls sort(bucket, workers) for each bucket. Buckets larger than a worker's share are sorted by
  // all workers, one after the other.
  template <class F>
  void for_each_bucket(std::span<const std::uint64_t> begins, Some workers, const F& sort) {
    const std::size_t buckets = begins.size() - 1;
    const auto is_for_all = [&](std::size_t i) {
      return workers.size() > 1 && begins[i + 1] - begins[i] > share_;
    };
    for (std::size_t i = 0; i < buckets; ++i) {
      if (is_for_all(i)) sort(i, workers);
    }
    if (workers.size() == 1) {
      for (std::size_t i = 0; i < buckets; ++i) sort(i, workers);
      return;
    }
    const auto sort_one = [&](std::size_t i) {
      if (is_for_all(i)) return;
      const std::size_t worker = take_free();
      sort(i, Some(&memory_[worker], 1));
      give_back(worker);
    };
    tasks_.for_each(buckets, std::cref(sort_one));
  }

  // Calls f(begin, size) for stretches of `count` elements: as tasks if all workers take part, or
  // else once.
  template <class F>
  void for_each_stretch(std::size_t count, Some workers, const F& f) {
    if (workers.size() == 1) return f(std::size_t{0}, count);
    const auto take = [&](std::size_t stretch) {
      const std::size_t begin = stretch * kStretchKeys;
      f(begin, std::min(kStretchKeys, count - begin));
    };
    tasks_.for_each(div_up(count, kStretchKeys), std::cref(take));
  }

 private:
  [[nodiscard]] std::size_t take_free() {
    const std::scoped_lock lock(mutex_);
    const std::size_t worker = free_.back();
    free_.pop_back();
    return worker;
  }

  void give_back(std::size_t worker) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(worker);
  }

  TaskArena tasks_;
  const std::size_t share_;  // elements of one worker, on average
  std::vector<Memory> memory_;
  std::mutex mutex_;
  std::vector<std::size_t> free_;
};

}  // namespace gsort::cpu
