// RunBlocks: counts elements of the runs of this process for find_cuts(). Each search has a counter
// of its own, which keeps the last block that it has read of each run. Usually this block contains
// the cut.
#pragma once

#include <vector>

#include "cluster/cuts/cuts.hpp"

namespace gsort::cluster {

class RunBlocks final : public RunCounts {
 public:
  // Requires: slots >= 1.
  RunBlocks(const RunsToCut& runs, unsigned slots) {
    while (counters_.size() < slots) counters_.emplace_back(runs);
  }

  [[nodiscard]] std::size_t runs() const override { return counters_.front().runs(); }
  [[nodiscard]] std::uint64_t elements(std::size_t run) const override {
    return counters_.front().elements(run);
  }
  [[nodiscard]] unsigned slots() const override { return static_cast<unsigned>(counters_.size()); }
  [[nodiscard]] std::size_t words() const override;
  [[nodiscard]] std::uint64_t greatest() const override {
    return counters_.front().greatest_value();
  }
  [[nodiscard]] Bounds bounds(std::size_t run, std::uint64_t value) const override {
    return counters_.front().bounds_by_fences(run, value);
  }
  [[nodiscard]] std::uint64_t expected(std::size_t run, std::uint64_t value) const override {
    return static_cast<std::uint64_t>(counters_.front().expected_in(run, value));
  }
  [[nodiscard]] std::uint64_t count(unsigned slot, std::size_t run, std::size_t word,
                                    std::uint64_t value, std::uint64_t low,
                                    std::uint64_t high) override;
  [[nodiscard]] std::uint64_t value_at(unsigned slot, std::size_t run, std::size_t word,
                                       std::uint64_t position) override;

 private:
  std::vector<RunCounter> counters_;
};

}  // namespace gsort::cluster
