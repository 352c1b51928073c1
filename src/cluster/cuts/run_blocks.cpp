#include "cluster/cuts/run_blocks.hpp"

namespace gsort::cluster {

std::size_t RunBlocks::words() const {
  const auto& records = counters_.front().records();
  return records ? records->words().size() : 1;
}

std::uint64_t RunBlocks::count(unsigned slot, std::size_t run, std::size_t word,
                               std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  RunCounter& counter = counters_[slot];
  if (word == 0) return counter.count_up_to(run, value, low, high);
  const RecordWord& of_key = counter.records()->words()[word];
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (of_key.of(counter.element_at(run, middle)) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint64_t RunBlocks::value_at(unsigned slot, std::size_t run, std::size_t word,
                                  std::uint64_t position) {
  RunCounter& counter = counters_[slot];
  if (word == 0) return counter.value_at(run, position);
  return counter.records()->words()[word].of(counter.element_at(run, position));
}

}  // namespace gsort::cluster
