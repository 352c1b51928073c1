#include "pipeline/sort_arrays.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "pipeline/input/metered_read.hpp"

namespace gsort {
namespace {

class ArraySort {
 public:
  ArraySort(const SortContext& context, const OutputMaker& output)
      : plan_(context.plan),
        sizes_(plan_.as<BatchPlan>()),
        block_bytes_(sizes_.block_elements * plan_.element_bytes),
        reader_(*context.reader),
        proof_(*context.proof),
        meter_(context.meter),
        output_(output),
        lanes_(context.engine->make_array_lanes(sizes_.lanes,
                                                {sizes_.longest_array, sizes_.block_elements})) {}

  std::uint64_t run() {
    Failure failure;
    run_workers(sizes_.lanes, [&](unsigned worker) {
      try {
        while (!failure.failed() && work_on_block(*lanes_[worker])) {
        }
      } catch (...) {
        failure.capture();
        const std::scoped_lock lock(mutex_);
        if (sink_ != nullptr) sink_->abandon();
      }
    });
    failure.rethrow();
    return position_;
  }

 private:
  // Reads, sorts and puts one block; false at the end of the input.
  bool work_on_block(ArrayLane& lane) {
    std::uint64_t position = 0;
    const ConstByteSpan raw = read_block(lane.input(), position);
    if (raw.empty()) return false;
    const std::uint64_t array_elements = plan_.job.array_elements;
    const ArraysFingerprint read = proof_.add_input_arrays(raw, array_elements);
    const ConstByteSpan sorted = sort_block(lane, raw.size());
    proof_.add_output_arrays(position, sorted, array_elements, read);
    sink_->put(position, sorted);
    return true;
  }

  ConstByteSpan sort_block(ArrayLane& lane, std::size_t bytes) {
    Span span(meter_, Stage::kSort);
    span.add_bytes(bytes);
    return lane.sort(bytes);
  }

  // The reader's blocks may end within an array: reads on until the block is full. The room after
  // it is for text, which needs more than its keys.
  ConstByteSpan read_block(ByteSpan room, std::uint64_t& position) {
    const std::scoped_lock lock(mutex_);
    // Do not read on after a block that will not come: the output would wait for it.
    if (has_failed_) return {};
    has_failed_ = true;  // unless this returns
    const std::uint64_t end = position_ * plan_.element_bytes + block_bytes_;
    std::size_t filled = 0;
    while (const auto read = read_next(reader_, meter_, room.subspan(filled), end)) {
      filled += read->bytes;
    }
    position = position_;
    position_ += filled / plan_.element_bytes;
    begin_output(filled > 0);
    has_failed_ = false;
    return room.first(filled);
  }

  // Called as soon as it is known whether there are elements.
  void begin_output(bool anything) {
    if (sink_ != nullptr) return;
    const auto size = reader_.known_size();
    if (anything) {
      sink_ = &output_(size ? std::optional(*size / plan_.element_bytes) : std::nullopt);
    } else {
      sink_ = &output_(0);
    }
  }

  const Plan& plan_;
  const BatchPlan& sizes_;
  std::uint64_t block_bytes_;
  io::Reader& reader_;
  Proof& proof_;
  Meter* meter_;
  const OutputMaker& output_;
  std::vector<std::unique_ptr<ArrayLane>> lanes_;
  std::mutex mutex_;  // guards reading, and the members below
  std::uint64_t position_ = 0;
  bool has_failed_ = false;
  PieceSink* sink_ = nullptr;
};

}  // namespace

std::uint64_t sort_arrays(const SortContext& context, const OutputMaker& output) {
  return ArraySort(context, output).run();
}

}  // namespace gsort
