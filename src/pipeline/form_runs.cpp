#include "pipeline/form_runs.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/blocking_queue.hpp"
#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/output/gap_watch.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{256} << 10;

// A lane with a sorted chunk in it.
struct FilledLane {
  ChunkLane* lane = nullptr;
  Fingerprint input;    // of its elements
  std::size_t run = 0;  // the number of the run that it becomes: runs are in the order of chunks
};

// A lane that is filled side by side with others, from several threads.
class SharedFill {
 public:
  SharedFill(ChunkLane& lane, std::uint64_t room) : lane_(lane), left_(room) {}

  [[nodiscard]] ChunkLane& lane() { return lane_; }
  [[nodiscard]] Fingerprint input() const { return input_; }

  // Sets room for so many elements aside, if there is so much; settle() gives back what of it was
  // not needed, and returns where in the chunk the others go.
  [[nodiscard]] bool reserve(std::uint64_t elements) {
    const std::scoped_lock lock(mutex_);
    if (left_ < elements) return false;
    left_ -= elements;
    return true;
  }
  std::uint64_t settle(std::uint64_t reserved, const Fingerprint& input) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t position = input_.count;
    left_ += reserved - input.count;
    input_ += input;
    return position;
  }

 private:
  ChunkLane& lane_;
  std::mutex mutex_;
  std::uint64_t left_;
  Fingerprint input_;
};

class RunFormation {
 public:
  RunFormation(const FormContext& context, const RunStoreMaker& run_store,
               const OutputMaker& output)
      : plan_(context.plan),
        reader_(context.reader),
        proof_(context.proof),
        meter_(context.meter),
        resumption_(context.resumption),
        always_runs_(context.always_runs),
        run_store_(run_store),
        output_(output),
        lanes_(context.engine.make_chunk_lanes()) {
    for (const auto& lane : lanes_) free_.push(lane.get());
  }

  FormedRuns form() {
    take_up();
    try {
      fill_all();
    } catch (...) {
      failure_.capture();
    }
    for (BlockingQueue<FilledLane>& filled : filled_) filled.close();
    for (std::jthread& spiller : spillers_) spiller.join();
    failure_.rethrow();
    return std::move(formed_);
  }

 private:
  void take_up() {
    if (resumption_ == nullptr || resumption_->found().runs == 0) return;
    formed_.runs = resumption_->take_up(run_store_(), proof_);
    for (const io::Run& run : formed_.runs) formed_.elements += run.elements();
  }

  void fill_all() {
    std::size_t run = formed_.runs.size();
    for (bool first = run == 0;; first = false) {
      const std::optional<ChunkLane*> lane = free_lane();
      if (!lane || failure_.failed()) return;
      if (fills_side_by_side()) {
        run = fill_with_others(**lane, run);
        if (reader_.at_end()) return;
        continue;
      }
      const Fingerprint input = fill(**lane);
      if (input.count == 0 && (always_runs_ || !first)) return;
      const bool all = !always_runs_ && first && reader_.at_end();
      sort(**lane, all ? KeyForm::kRaw : KeyForm::kOrdered);
      formed_.elements += input.count;
      if (all) return put_out(**lane, input.count);
      hand_over({*lane, input, run++});
      if (reader_.at_end()) return;
    }
  }

  void put_out(ChunkLane& lane, std::uint64_t elements) {
    const DeviceScope scope(device_of(lane));
    GapWatch watch(plan_.element_bytes, output_(elements));
    lane.emit(watch);
  }

  std::optional<ChunkLane*> free_lane() {
    const Wait wait(meter_, Stage::kRead);
    return free_.pop();
  }

  void sort(ChunkLane& lane, KeyForm form) {
    const DeviceScope scope(device_of(lane));
    const Span span(meter_, Stage::kSort);
    lane.sort(form);
  }

  // A bus takes less than memory gives. Keys, which are not told apart, may go into any chunk, so
  // the lanes of several devices are filled at once; records keep their order only in chunks that
  // follow each other.
  [[nodiscard]] bool fills_side_by_side() const {
    constexpr std::uint64_t kLeastBlocks = 4;  // of a chunk: the last one may not be filled
    return plan_.chunk.spillers > 1 && plan_.is<Spill>() && !plan_.job.element.records &&
           plan_.chunk.chunk_elements >= kLeastBlocks * block_elements() && reader_.is_cached();
  }

  [[nodiscard]] std::uint64_t block_elements() const {
    return plan_.chunk.block_bytes / plan_.element_bytes;
  }

  // Fills the lane and as many others as are free, one for each device. Returns the number of the
  // next run.
  std::size_t fill_with_others(ChunkLane& lane, std::size_t run) {
    std::deque<SharedFill> fills;
    fills.emplace_back(lane, plan_.chunk.chunk_elements);
    while (fills.size() < plan_.chunk.spillers) {
      const std::optional<ChunkLane*> other = free_.try_pop();
      if (!other) break;
      fills.emplace_back(**other, plan_.chunk.chunk_elements);
    }
    const std::uint64_t begin = reader_.position();
    fill_blocks(fills);
    std::uint64_t elements = 0;
    for (const SharedFill& fill : fills) elements += fill.input().count;
    require_all_taken(begin, elements);
    formed_.elements += elements;
    for (SharedFill& fill : fills) {
      if (fill.input().count == 0) {
        free_.push(&fill.lane());
        continue;
      }
      sort(fill.lane(), KeyForm::kOrdered);
      hand_over({&fill.lane(), fill.input(), run++});
    }
    return run;
  }

  void fill_blocks(std::deque<SharedFill>& fills) {
    for (SharedFill& fill : fills) fill.lane().begin({});
    Failure failure;
    run_workers(plan_.chunk.readers, [&](unsigned worker) {
      try {
        for (std::size_t turn = worker; !failure.failed() && !failure_.failed(); ++turn) {
          if (!add_block_to_one(fills, turn)) return;
        }
      } catch (...) {
        failure.capture();
      }
    });
    failure.rethrow();
  }

  // To the first one with room, from that whose turn it is. Returns false where no lane has room,
  // or there is no more to read.
  bool add_block_to_one(std::deque<SharedFill>& fills, std::size_t turn) {
    for (std::size_t i = 0; i < fills.size(); ++i) {
      SharedFill& fill = fills[(turn + i) % fills.size()];
      if (!fill.reserve(block_elements())) continue;
      const DeviceScope scope(device_of(fill.lane()));
      const ByteSpan block = acquire_block(fill.lane());
      const auto read = read_next(reader_, meter_, block, *reader_.known_size());
      const std::size_t bytes = read ? read->bytes : 0;
      const Fingerprint input = proof_.add_input(block.first(bytes));
      const std::uint64_t position = fill.settle(block_elements(), input);
      put_block(fill.lane(), block, bytes, position);
      return read.has_value();
    }
    return false;
  }

  // Reads one chunk into the lane; returns the fingerprint of its elements.
  Fingerprint fill(ChunkLane& lane) {
    const std::uint64_t begin = reader_.position();
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - begin;
    const std::uint64_t chunk_bytes = plan_.chunk.chunk_elements * plan_.element_bytes;
    const std::uint64_t end = begin + std::min(most, chunk_bytes);
    if (!reader_.known_size()) {
      fill_from_pipe(lane, begin, end);
    } else {
      lane.begin(sample_of(begin, std::min(end, *reader_.known_size())));
      fill_blocks(lane, begin, end);
    }
    const Fingerprint filled = std::exchange(filled_with_, {});
    require_all_taken(begin, filled.count);
    return filled;
  }

  // A run that is kept stands for all of the input up to its end: who resumes the sort reads on
  // from there. So what the reader has passed over must be seen before, not at the end of the sort.
  void require_all_taken(std::uint64_t begin, std::uint64_t elements) const {
    const std::uint64_t given = (reader_.position() - begin) / plan_.element_bytes;
    if (given == elements) return;
    throw Error(ErrorKind::kCorrupt, "verifying what was read",
                fmt::format("read {} elements for a chunk, but {} arrived", format_count(given),
                            format_count(elements)))
        .hint(kDefectHint);
  }

  // Buckets follow the sample, pieces of the output the buckets, and frames of a compressed output
  // the pieces: its bytes would differ from sort to sort if the places did.
  ConstByteSpan sample_of(std::uint64_t begin, std::uint64_t end) {
    const Span span(meter_, Stage::kRead);
    sample_.resize(kSampleBytes);
    const bool is_compressed = plan_.job.output_form.codec != Codec::kNone;
    const io::Places places = is_compressed ? io::Places::kEven : io::Places::kAnywhere;
    return ConstByteSpan(sample_).first(reader_.sample(sample_, begin, end, places));
  }

  // A pipe cannot be sampled ahead: its first block stands for the chunk.
  void fill_from_pipe(ChunkLane& lane, std::uint64_t begin, std::uint64_t end) {
    const DeviceScope scope(device_of(lane));
    sample_.resize(kSampleBytes);
    lane.begin(ConstByteSpan(sample_).first(sampled_from_pipe_));
    const ByteSpan block = acquire_block(lane);
    const auto read = read_next(reader_, meter_, block, end);
    const std::size_t bytes = read ? read->bytes : 0;
    if (sampled_from_pipe_ == 0) {
      sampled_from_pipe_ = std::min(bytes, sample_.size());
      std::copy_n(block.begin(), sampled_from_pipe_, sample_.begin());
      lane.begin(ConstByteSpan(sample_).first(sampled_from_pipe_));
    }
    add_block(lane, block, bytes, 0);
    if (read) fill_blocks(lane, begin, end);
  }

  void fill_blocks(ChunkLane& lane, std::uint64_t begin, std::uint64_t end) {
    Failure failure;
    run_workers(plan_.chunk.readers, [&](unsigned) {
      const DeviceScope scope(device_of(lane));
      try {
        while (!failure.failed() && !failure_.failed()) {
          const ByteSpan block = acquire_block(lane);
          const auto read = read_next(reader_, meter_, block, end);
          if (!read) {
            lane.add(block, 0, 0);
            return;
          }
          add_block(lane, block, read->bytes, (read->position_bytes - begin) / plan_.element_bytes);
        }
      } catch (...) {
        failure.capture();
      }
    });
    failure.rethrow();
  }

  ByteSpan acquire_block(ChunkLane& lane) {
    const Wait wait(meter_, Stage::kRead);
    return lane.acquire_block();
  }

  void add_block(ChunkLane& lane, ByteSpan block, std::size_t bytes, std::uint64_t position) {
    const Fingerprint input = proof_.add_input(block.first(bytes));
    {
      const std::scoped_lock lock(filling_);
      filled_with_ += input;
    }
    put_block(lane, block, bytes, position);
  }

  void put_block(ChunkLane& lane, ByteSpan block, std::size_t bytes, std::uint64_t position) {
    Span span(meter_, Stage::kPartition);
    span.add_bytes(bytes);
    lane.add(block, bytes, position);
  }

  // The first chunk that is spilled starts the threads: one for each device, which empties the
  // lanes of that device alone, so that none waits for a slower one. Where the system allows none,
  // chunks are spilled between one another.
  void start_spillers() {
    has_begun_to_spill_ = true;
    run_store_();  // made by one thread
    try {
      spillers_.reserve(plan_.chunk.spillers);
      while (spillers_.size() < plan_.chunk.spillers) {
        BlockingQueue<FilledLane>& filled = filled_.emplace_back();
        spillers_.emplace_back([this, &filled] { spill_all(filled); });
      }
    } catch (const std::system_error&) {
    }
  }

  void hand_over(const FilledLane& filled) {
    if (!has_begun_to_spill_) start_spillers();
    if (spillers_.empty()) {
      spill(filled);
    } else {
      filled_[number_of(*filled.lane) % spillers_.size()].push(filled);
    }
  }

  // Lanes are spread over the devices in turn.
  [[nodiscard]] std::size_t number_of(const ChunkLane& lane) const {
    const auto found = std::ranges::find(lanes_, &lane, &std::unique_ptr<ChunkLane>::get);
    return static_cast<std::size_t>(found - lanes_.begin());
  }

  [[nodiscard]] std::optional<int> device_of(const ChunkLane& lane) const {
    return plan_.device_of_lane(number_of(lane));
  }

  void spill(const FilledLane& filled) {
    const DeviceScope scope(device_of(*filled.lane));
    io::RunWriter writer = run_store_().begin_run(filled.input.count);
    RunSink sink(writer, meter_);
    filled.lane->emit(sink);
    add_run(finish(writer), filled);
    free_.push(filled.lane);
  }

  void add_run(io::Run run, const FilledLane& filled) {
    const std::scoped_lock lock(adding_);
    if (formed_.runs.size() <= filled.run) formed_.runs.resize(filled.run + 1);
    formed_.runs[filled.run] = std::move(run);
    keep(formed_.runs[filled.run], filled.input);
  }

  void spill_all(BlockingQueue<FilledLane>& lanes) {
    try {
      while (const auto filled = next_of(lanes)) {
        if (failure_.failed()) return;
        spill(*filled);
      }
    } catch (...) {
      failure_.capture();
    }
    free_.close();  // no lane is needed any more, or one will never be free
  }

  std::optional<FilledLane> next_of(BlockingQueue<FilledLane>& lanes) {
    const Wait wait(meter_, Stage::kSpill);
    return lanes.pop();
  }

  io::Run finish(io::RunWriter& writer) {
    const Span span(meter_, Stage::kSpill);
    return writer.finish();
  }

  void keep(const io::Run& run, const Fingerprint& input) {
    if (resumption_ == nullptr) return;
    const Span span(meter_, Stage::kSpill);
    resumption_->add(run_store_(), run, input);
  }

  const Plan& plan_;
  io::Reader& reader_;
  Proof& proof_;
  Meter* meter_;
  Resumption* resumption_;
  const bool always_runs_;
  const RunStoreMaker& run_store_;
  const OutputMaker& output_;
  std::vector<std::unique_ptr<ChunkLane>> lanes_;
  BlockingQueue<ChunkLane*> free_;
  std::deque<BlockingQueue<FilledLane>> filled_;  // one for each spiller
  Failure failure_;
  FormedRuns formed_;
  bool has_begun_to_spill_ = false;
  std::mutex filling_;
  Fingerprint filled_with_;  // the chunk in the making
  std::vector<std::byte> sample_;
  std::size_t sampled_from_pipe_ = 0;
  std::mutex adding_;
  std::vector<std::jthread> spillers_;  // last: they end before the rest goes
};

}  // namespace

FormedRuns form_runs(const FormContext& context, const RunStoreMaker& run_store,
                     const OutputMaker& output) {
  return RunFormation(context, run_store, output).form();
}

}  // namespace gsort
