// Sorted runs in a store of their own, in a temporary folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/split/run_counter.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {

class RunsOnDisk {
 public:
  // Elements are records, or keys as ordered numbers.
  RunsOnDisk(std::size_t element_bytes, std::uint64_t block_elements,
             const std::optional<RecordFormat>& records = {}, Packing packing = Packing::kAuto)
      : element_bytes_(element_bytes),
        block_elements_(block_elements),
        records_(records),
        store_({folder_.path()}, element_bytes, options(block_elements, records, packing)) {}

  void add(ConstByteSpan sorted) {
    io::RunWriter writer = store_.begin_run(sorted.size() / element_bytes_);
    if (!sorted.empty()) writer.put(0, sorted);
    runs_.push_back(writer.finish());
  }

  [[nodiscard]] std::span<io::Run> runs() { return runs_; }
  [[nodiscard]] io::RunStore& store() { return store_; }
  [[nodiscard]] RunsToCut to_cut() const {
    return {runs_, element_bytes_, block_elements_ * element_bytes_, store_.scratch_bytes(),
            records_};
  }

 private:
  static io::RunStoreOptions options(std::uint64_t block_elements,
                                     const std::optional<RecordFormat>& records, Packing packing) {
    io::RunStoreOptions options;
    options.block_elements = block_elements;
    options.write_buffer_bytes = 64 << 10;
    options.packing = packing;
    if (records) options.records.emplace(*records);
    return options;
  }

  const std::size_t element_bytes_;
  const std::uint64_t block_elements_;
  const std::optional<RecordFormat> records_;
  io::test::TempFolder folder_;
  io::RunStore store_;
  std::vector<io::Run> runs_;
};

}  // namespace gsort::test
