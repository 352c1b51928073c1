#include "pipeline/form_runs.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
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
#include "pipeline/filled_lane.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/output/gap_watch.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{256} << 10;

class RunFormation {
 public:
  RunFormation(const SortContext& context, const OutputMaker& output)
      : plan_(context.plan),
        reader_(*context.reader),
        proof_(*context.proof),
        meter_(context.meter),
        resumption_(context.resumption),
        keep_(context.keep),
        losses_(context.losses),
        run_store_(context.store),
        output_(output),
        lanes_(context.engine->make_chunk_lanes()),
        reads_in_pieces_(!plan_.job.element.records && reader_.known_size() &&
                         reader_.is_cached()) {
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
    do_again();
    return std::move(formed_);
  }

 private:
  void take_up() {
    if (resumption_ == nullptr || resumption_->found().runs == 0) return;
    formed_.runs = resumption_->take_up(run_store_(), proof_);
    for (const io::Run& run : formed_.runs) formed_.elements += run.elements();
  }

  void fill_all() {
    if (fills_side_by_side()) return fill_side_by_side();
    std::size_t run = formed_.runs.size();
    for (bool may_be_all = run == 0 && !plan_.job.forms_share;; may_be_all = false) {
      const std::optional<ChunkLane*> lane = free_lane();
      if (!lane || failure_.failed()) return;
      FilledLane filled{*lane, {}, run};
      KeyForm form = KeyForm::kOrdered;
      const bool is_sorted = done_or_left(filled, [&] {
        fill(filled);
        if (may_be_all && reader_.at_end()) form = KeyForm::kRaw;
        if (filled.input.count > 0 || may_be_all) sort(**lane, form);
      });
      if (filled.input.count == 0 && !is_sorted) continue;
      if (filled.input.count == 0 && !may_be_all) return;
      formed_.elements += filled.input.count;
      if (is_sorted && form == KeyForm::kRaw) return put_out(**lane, filled.input.count);
      if (is_sorted) hand_over(filled);
      ++run;
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
    std::optional<ChunkLane*> lane = free_.pop();
    while (lane && !is_of_use(**lane)) lane = free_.pop();
    return lane;
  }

  // Whether the chunk of a lane whose device failed can be done again: the failure is not another
  // device's, and has taken no runs with it.
  [[nodiscard]] bool may_leave(const ChunkLane& lane, const DeviceError& failure) const {
    const bool runs_are_left =
        plan_.device_run_bytes() == 0 || failure.kind() == ErrorKind::kResource;
    return losses_ != nullptr && resumption_ == nullptr && plan_.is<Spill>() && runs_are_left &&
           reader_.known_size() && failure.ordinal() && failure.ordinal() == device_of(lane);
  }

  // Does what a chunk needs. Returns false if the lane has left, because its device failed.
  template <class Work>
  bool done_or_left(const FilledLane& filled, const Work& work) {
    try {
      work();
      return true;
    } catch (const DeviceError& failure) {
      if (filled.from.empty() || !may_leave(*filled.lane, failure)) throw;
      leave(filled, failure);
      return false;
    }
  }

  // If no lane is left, the sort fails.
  void leave(const FilledLane& filled, const DeviceError& failure) {
    losses_->add(failure, DoneAgain::kChunks);
    const std::scoped_lock lock(adding_);
    left_.push_back(filled.lane);
    if (filled.input.count > 0) again_.push_back(filled);
    if (left_.size() == lanes_.size()) throw DeviceError(failure);
  }

  // A lane whose device another one has lost leaves, too.
  bool is_of_use(ChunkLane& lane) {
    const auto loss = losses_ ? losses_->loss_of(device_of(lane)) : std::nullopt;
    if (loss) leave({&lane, {}}, *loss);
    return !loss;
  }

  // The chunks of lanes that have left, when all other lanes are free.
  void do_again() {
    while (!again_.empty()) {
      FilledLane filled = again_.back();
      const auto may_do = [this](const auto& lane) {
        return std::ranges::find(left_, lane.get()) == left_.end() && is_of_use(*lane);
      };
      filled.lane = std::ranges::find_if(lanes_, may_do)->get();
      again_.pop_back();
      const bool is_sorted = done_or_left(filled, [&] {
        const DeviceScope scope(device_of(*filled.lane));
        fill_again(filled, reader_, proof_, meter_);
        sort(*filled.lane, KeyForm::kOrdered);
      });
      if (is_sorted) spill(filled);
    }
  }

  void sort(ChunkLane& lane, KeyForm form) {
    const DeviceScope scope(device_of(lane));
    const Span span(meter_, Stage::kSort);
    lane.sort(form);
  }

  // Memory gives more than a bus takes. Keys, which are not told apart, may go into any chunk: so
  // one chunk for each device is filled at the same time, and no thread waits for others at the end
  // of a chunk. Chunks of records, and chunks that a sort is resumed from, follow each other.
  [[nodiscard]] bool fills_side_by_side() const {
    const bool is_on_devices = plan_.chunk.spillers > 1 || !plan_.devices.empty();
    return is_on_devices && resumption_ == nullptr && !keep_ && plan_.is<Spill>() &&
           reads_in_pieces_;
  }

  void fill_side_by_side() {
    const std::uint64_t begin = reader_.position();
    run_workers(plan_.chunk.readers, [&](unsigned) {
      try {
        while (!failure_.failed() && add_block_to_one()) {
        }
      } catch (...) {
        failure_.capture();
        free_.close();
      }
    });
    if (failure_.failed()) return;
    for (const auto& fill : open_) {
      if (!fill->is_full()) complete(*fill);
    }
    require_all_taken(begin, formed_.elements);
  }

  // Returns false where there is no more to read, or no lane any more.
  bool add_block_to_one() {
    const auto [fill, elements] = begin_block();
    if (!fill) return false;
    const DeviceScope scope(device_of(fill->lane()));
    bool has_read = true;
    try {
      const ByteSpan block = acquire_block(fill->lane(), meter_);
      const ByteSpan room = block.first(elements * plan_.element_bytes);
      const ReadPieces read = read_in_pieces(reader_, proof_, meter_, room, *reader_.known_size());
      has_read = read.bytes > 0;
      put_block(fill->lane(), meter_, block, read.bytes, fill->place(read));
    } catch (const DeviceError& failure) {
      if (!may_leave(fill->lane(), failure)) throw;
      fill->fail(failure);
    }
    if (fill->end_block()) complete(*fill);
    return has_read;
  }

  // Picks the open chunk that has waited longest for a block, or that was opened first.
  BlockOfFill begin_block() {
    const Wait wait(meter_, Stage::kRead);
    const std::scoped_lock lock(opening_);
    while (open_chunks()) {
      std::rotate(open_.begin(), open_.begin() + 1, open_.end());
      const std::shared_ptr<SharedFill>& fill = open_.back();
      const std::uint64_t most = plan_.chunk.block_bytes / plan_.element_bytes;
      if (const std::uint64_t elements = fill->begin_block(most)) return {fill, elements};
    }
    return {};
  }

  // Waits for a lane where no chunk is open. Returns false where there is no lane any more.
  bool open_chunks() {
    std::erase_if(open_, [](const auto& fill) { return fill->is_full(); });
    while (open_.size() < plan_.chunk.spillers) {
      const auto lane = open_.empty() ? free_.pop() : free_.try_pop([&](const ChunkLane* other) {
        return std::ranges::none_of(open_, [&](const auto& fill) {
          return spiller_of(fill->lane()) == spiller_of(*other);
        });
      });
      if (!lane) break;
      if (!is_of_use(**lane)) continue;
      const FilledLane nothing{*lane, {}, 0, {{}}};
      if (done_or_left(nothing, [&] { nothing.lane->begin({}); })) {
        open_.push_back(std::make_shared<SharedFill>(**lane, plan_.chunk.chunk_elements));
      }
    }
    return !open_.empty();
  }

  // Nothing will be added to the chunk any more.
  void complete(SharedFill& fill) {
    FilledLane& filled = fill.filled();
    if (filled.input.count > 0) {
      const std::scoped_lock lock(completing_);
      formed_.elements += filled.input.count;
      filled.run = next_run_++;
    }
    if (fill.failure()) return leave(filled, *fill.failure());
    if (filled.input.count == 0) {
      free_.push(filled.lane);
    } else if (done_or_left(filled, [&] { sort(*filled.lane, KeyForm::kOrdered); })) {
      const std::scoped_lock lock(completing_);
      hand_over(filled);
    }
  }

  // Reads one chunk into the lane. What was read is noted even if the lane's device fails.
  void fill(FilledLane& filled) {
    const std::uint64_t begin = reader_.position();
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - begin;
    const std::uint64_t chunk_bytes = plan_.chunk.chunk_elements * plan_.element_bytes;
    const std::uint64_t end = begin + std::min(most, chunk_bytes);
    const auto note = [&] {
      filled.input = std::exchange(filled_with_, {});
      filled.from = {{begin, reader_.position() - begin}};
    };
    try {
      if (!reader_.known_size()) {
        fill_from_pipe(*filled.lane, begin, end);
      } else {
        filled.lane->begin(sample_of(begin, std::min(end, *reader_.known_size())));
        fill_blocks(*filled.lane, begin, end);
      }
    } catch (const DeviceError&) {
      note();
      if (taken_since(begin) != filled.input.count) filled.from.clear();
      throw;
    }
    note();
    require_all_taken(begin, filled.input.count);
  }

  [[nodiscard]] std::uint64_t taken_since(std::uint64_t begin) const {
    return (reader_.position() - begin) / plan_.element_bytes;
  }

  // A kept run stands for all of the input up to its end: a resumed sort reads on from there. So
  // elements that the reader has skipped must be found now, not at the end of the sort.
  void require_all_taken(std::uint64_t begin, std::uint64_t elements) const {
    const std::uint64_t given = taken_since(begin);
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
    const ByteSpan block = acquire_block(lane, meter_);
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
        while (!failure.failed() && !failure_.failed() && add_next_block(lane, begin, end)) {
        }
      } catch (...) {
        failure.capture();
      }
    });
    failure.rethrow();
  }

  // Returns false where there is no more to read.
  bool add_next_block(ChunkLane& lane, std::uint64_t begin, std::uint64_t end) {
    const ByteSpan block = acquire_block(lane, meter_);
    if (reads_in_pieces_) {
      const ReadPieces read = read_in_pieces(reader_, proof_, meter_, block, end);
      put_block(lane, meter_, block, read.bytes, place(read.input));
      return read.bytes > 0;
    }
    const auto read = read_next(reader_, meter_, block, end);
    const std::size_t bytes = read ? read->bytes : 0;
    const std::uint64_t position = read ? (read->position_bytes - begin) / plan_.element_bytes : 0;
    add_block(lane, block, bytes, position);
    return read.has_value();
  }

  void add_block(ChunkLane& lane, ByteSpan block, std::size_t bytes, std::uint64_t position) {
    static_cast<void>(place(proof_.add_input(block.first(bytes))));
    put_block(lane, meter_, block, bytes, position);
  }

  // Returns how many elements the chunk in the making had without these.
  std::uint64_t place(const Fingerprint& input) {
    const std::scoped_lock lock(filling_);
    const std::uint64_t before = filled_with_.count;
    filled_with_ += input;
    return before;
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
      filled_[spiller_of(*filled.lane) % spillers_.size()].push(filled);
    }
  }

  [[nodiscard]] std::size_t spiller_of(const ChunkLane& lane) const {
    return number_of(lane) % plan_.chunk.spillers;
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
    const bool is_run = done_or_left(filled, [&] {
      io::RunWriter writer = run_store_().begin_run(filled.input.count);
      RunSink sink(writer, meter_);
      filled.lane->emit(sink);
      add_run(finish(writer), filled);
    });
    if (is_run) free_.push(filled.lane);
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
    const Span span(meter_, Stage::kSpill);
    if (resumption_ != nullptr) resumption_->add(run_store_(), run, input);
    if (keep_) keep_(run, input);
  }

  const Plan& plan_;
  io::Reader& reader_;
  Proof& proof_;
  Meter* meter_;
  Resumption* resumption_;
  const RunKeeper& keep_;
  DeviceLosses* losses_;
  const RunStoreMaker& run_store_;
  const OutputMaker& output_;
  std::vector<std::unique_ptr<ChunkLane>> lanes_;
  const bool reads_in_pieces_;
  BlockingQueue<ChunkLane*> free_;
  std::deque<BlockingQueue<FilledLane>> filled_;  // one for each spiller
  Failure failure_;
  FormedRuns formed_;
  bool has_begun_to_spill_ = false;
  std::mutex filling_;
  Fingerprint filled_with_;  // the chunk in the making
  // For chunks that are filled at the same time:
  std::mutex opening_;  // guards open_
  std::vector<std::shared_ptr<SharedFill>> open_;
  std::mutex completing_;  // guards next_run_, and handing over
  std::size_t next_run_ = 0;
  std::vector<std::byte> sample_;
  std::size_t sampled_from_pipe_ = 0;
  std::mutex adding_;
  std::vector<ChunkLane*> left_;        // lanes whose devices failed
  std::vector<FilledLane> again_;       // chunks that were theirs
  std::vector<std::jthread> spillers_;  // last: they end before the rest goes
};

}  // namespace

FormedRuns form_runs(const SortContext& context, const OutputMaker& output) {
  return RunFormation(context, output).form();
}

}  // namespace gsort
