// RunBlocks: counts elements of the runs of this process for find_cuts(). Each search has a counter
// of its own, which keeps the last block that it has read of each run. Usually this block contains
// the cut.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cuts/cuts.hpp"
#include "element/record_format.hpp"
#include "pipeline/split/run_counter.hpp"

namespace gsort::cluster {

// Sizes of elements and blocks, as of RunCounter.
struct BlockSizes {
  std::uint64_t element_bytes = 0;
  std::uint64_t block_bytes = 0;    // of the keys of a block, at most
  std::uint64_t scratch_bytes = 0;  // the least scratch for reading a block
};

class RunBlocks final : public RunCounts {
 public:
  // The runs outlive it. Requires: slots >= 1.
  RunBlocks(RunViewSpan runs, const BlockSizes& sizes, const std::optional<RecordFormat>& records,
            unsigned slots);

  [[nodiscard]] std::size_t runs() const override { return counters_.front().runs(); }
  [[nodiscard]] std::uint64_t elements(std::size_t run) const override {
    return counters_.front().elements(run);
  }
  [[nodiscard]] unsigned slots() const override { return static_cast<unsigned>(counters_.size()); }
  [[nodiscard]] std::size_t words() const override;
  [[nodiscard]] std::uint64_t greatest() const override {
    return counters_.front().greatest_value();
  }
  [[nodiscard]] Bounds bounds(std::size_t run, std::uint64_t value) const override;
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
