#include "pipeline/input/block_reader.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/input/metered_read.hpp"
#include "pipeline/input/sorted_input.hpp"

namespace gsort {
namespace {

// A worker reads an input to its end, then takes the next one.
class SortedBlocks {
 public:
  SortedBlocks(io::Reader& reader, const KeyFormat& format, Proof& proof, Meter* meter,
               unsigned workers)
      : reader_(reader), format_{format, {}}, proof_(proof), meter_(meter), inputs_(workers) {}

  std::size_t read(unsigned worker, ByteSpan block) {
    std::optional<SortedInput>& input = inputs_[worker];
    for (;;) {
      if (input) {
        if (const std::size_t bytes = input->read(block); bytes > 0) return bytes;
      }
      const std::size_t next = next_++;
      if (next >= reader_.inputs()) return 0;
      input.emplace(reader_, next, format_, order_, proof_, meter_);
    }
  }

 private:
  io::Reader& reader_;
  const ElementFormat format_;
  const ElementOrder order_{format_};
  Proof& proof_;
  Meter* meter_;
  std::vector<std::optional<SortedInput>> inputs_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

BlockReader blocks_of(io::Reader& reader, Proof& proof, Meter* meter) {
  return [&reader, &proof, meter](unsigned, ByteSpan block) -> std::size_t {
    const auto read = read_next(reader, meter, block);
    if (!read) return 0;
    proof.add_input(block.first(read->bytes));
    return read->bytes;
  };
}

BlockReader blocks_of_sorted(io::Reader& reader, const KeyFormat& format, Proof& proof,
                             Meter* meter, unsigned workers) {
  const auto blocks = std::make_shared<SortedBlocks>(reader, format, proof, meter, workers);
  return [blocks](unsigned worker, ByteSpan block) { return blocks->read(worker, block); };
}

}  // namespace gsort
