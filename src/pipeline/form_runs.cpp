#include "pipeline/form_runs.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/forming_lanes.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/output/gap_watch.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{256} << 10;
constexpr std::size_t kWholeBlock = std::numeric_limits<std::size_t>::max();

class RunFormation {
 public:
  RunFormation(const SortContext& context, const OutputMaker& output)
      : context_(context),
        plan_(context.plan),
        reader_(*context.reader),
        proof_(*context.proof),
        meter_(context.meter),
        output_(output),
        lanes_(context.engine->make_chunk_lanes(), plan_),
        reads_in_pieces_(!plan_.job.element.records && reader_.known_size() && reader_.is_cached()),
        threads_(plan_.chunk.spillers) {}

  FormedRuns form() {
    take_up();
    try {
      fills_side_by_side() ? fill_side_by_side() : fill_in_turn();
    } catch (...) {
      lanes_.give_up();
    }
    lanes_.close();
    for (std::jthread& spiller : spillers_) spiller.join();
    lanes_.rethrow();
    do_again();
    return std::move(lanes_.formed());
  }

 private:
  using enum LaneState;

  void take_up() {
    RunFolder* const run_folder = context_.run_folder;
    if (run_folder == nullptr || run_folder->found().runs == 0) return;
    FormedRuns& formed = lanes_.formed();
    formed.runs = run_folder->take_up(context_.store(), proof_);
    for (const io::Run& run : formed.runs) formed.elements += run.elements();
  }

  void fill_in_turn() {
    bool may_be_all = lanes_.formed().runs.empty() && !plan_.job.forms_share;
    while (FormingLane* const lane = begin_block().first) {
      fill(*lane);
      lanes_.step(*lane, kFull);
      if (may_be_all && !lane->failure && reader_.at_end()) return put_out(*lane);
      complete(*lane);
      if (reader_.at_end()) return;
      may_be_all = false;
    }
  }

  void put_out(FormingLane& lane) {
    if (!sort(lane, KeyForm::kRaw)) return;
    lanes_.step(lane, kEmitting);
    const DeviceScope scope(lane.device);
    GapWatch watch(plan_.element_bytes, output_(lane.chunk.input.count));
    lane.lane->emit(watch);
    lanes_.step(lane, kFree);
    lanes_.formed().runs.clear();
  }

  // As FormingLanes::begin().
  std::pair<FormingLane*, std::uint64_t> begin_block() {
    const Wait wait(meter_, Stage::kRead);
    return lanes_.begin(plan_.chunk.block_bytes / plan_.element_bytes);
  }

  // Whether the chunk of a lane whose device failed can be done again: the failure is not another
  // device's, and no runs were in its memory.
  [[nodiscard]] bool may_lose(const FormingLane& lane, const DeviceError& failure) const {
    const bool runs_are_left =
        plan_.device_run_bytes() == 0 || failure.kind() == ErrorKind::kResource;
    return context_.losses != nullptr && context_.run_folder == nullptr && plan_.is<Spill>() &&
           runs_are_left && reader_.known_size() && failure.ordinal() &&
           failure.ordinal() == lane.device;
  }

  // Works on a chunk. Returns false if the device failed and the lane is lost. If no other lane is
  // left, the sort fails.
  template <class Work>
  bool done_or_lost(FormingLane& lane, const Work& work) {
    try {
      work();
      return true;
    } catch (const DeviceError& failure) {
      if (!may_lose(lane, failure)) throw;
      context_.losses->add(failure, DoneAgain::kChunks);
      if (!lanes_.lose(lane)) throw;
      return false;
    }
  }

  // Throws if another lane has lost the device.
  void require_device(const FormingLane& lane) const {
    const auto loss = context_.losses ? context_.losses->loss_of(lane.device) : std::nullopt;
    if (loss) throw DeviceError(*loss);
  }

  // Sorts the chunks of lost lanes, when all other lanes are free.
  void do_again() {
    for (auto& again = lanes_.again(); !again.empty();) {
      FormingLane& lane = *begin_block().first;
      lane.chunk = std::move(again.back());
      again.pop_back();
      const bool is_filled = done_or_lost(lane, [&] {
        require_device(lane);
        const DeviceScope scope(lane.device);
        fill_again(*lane.lane, lane.chunk, reader_, proof_, meter_);
        lanes_.step(lane, kFull);
      });
      if (!is_filled || !sort(lane, KeyForm::kOrdered)) continue;
      lanes_.step(lane, kEmitting);
      spill(lane);
    }
  }

  bool sort(FormingLane& lane, KeyForm form) {
    return done_or_lost(lane, [&] {
      if (lane.failure) throw DeviceError(*lane.failure);
      const DeviceScope scope(lane.device);
      const Span span(meter_, Stage::kSort);
      lane.lane->sort(form);
      lanes_.step(lane, kReady);
    });
  }

  // Memory is faster than a bus. Equal keys are indistinguishable and may go into any chunk, so one
  // chunk for each device is filled at the same time, and no thread waits for others at the end of
  // a chunk. Chunks of records, and chunks from which a sort can resume, follow each other.
  [[nodiscard]] bool fills_side_by_side() const {
    const bool is_on_devices = plan_.chunk.spillers > 1 || !plan_.devices.empty();
    return is_on_devices && context_.run_folder == nullptr && plan_.is<Spill>() && reads_in_pieces_;
  }

  void fill_side_by_side() {
    const std::uint64_t begin = reader_.position();
    run_workers(plan_.chunk.readers, [&](unsigned) {
      try {
        while (add_block_to_one()) {
        }
      } catch (...) {
        lanes_.give_up();
      }
    });
    if (lanes_.has_failed()) return;
    while (FormingLane* const lane = lanes_.end_open()) complete(*lane);
    require_all_taken(begin, lanes_.formed().elements);
  }

  // Returns false if there is no more to read, or after a failure.
  bool add_block_to_one() {
    const auto [lane, elements] = begin_block();
    if (lane == nullptr) return false;
    if (elements == 0) return open(*lane);
    bool has_read = true;
    std::optional<DeviceError> failure;
    try {
      has_read = add_block(*lane, elements * plan_.element_bytes, 0, *reader_.known_size());
    } catch (const DeviceError& error) {
      if (!may_lose(*lane, error)) throw;
      failure = error;
    }
    if (lanes_.end_block(*lane, failure)) complete(*lane);
    return has_read;
  }

  bool open(FormingLane& lane) {
    done_or_lost(lane, [&] {
      require_device(lane);
      lane.lane->begin({});
      lane.room = plan_.chunk.chunk_elements;
      lanes_.step(lane, kOpen);
    });
    return true;
  }

  // Sorts and spills a full lane.
  void complete(FormingLane& lane) {
    if (lane.chunk.input.count == 0 && !lane.failure) return lanes_.step(lane, kFree);
    if (sort(lane, KeyForm::kOrdered)) spill_sorted();
  }

  // Reads one chunk into the lane. Notes the elements that were read even if the lane's device
  // fails.
  void fill(FormingLane& lane) {
    const std::uint64_t begin = reader_.position();
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - begin;
    const std::uint64_t chunk_bytes = plan_.chunk.chunk_elements * plan_.element_bytes;
    const std::uint64_t end = begin + std::min(most, chunk_bytes);
    try {
      require_device(lane);
      sample_.resize(kSampleBytes);
      lane.lane->begin(reader_.known_size() ? sample_of(begin, std::min(end, *reader_.known_size()))
                                            : ConstByteSpan(sample_).first(sampled_from_pipe_));
      // A pipe cannot be sampled ahead: its first block stands for all chunks.
      if (reader_.known_size() || add_block(lane, kWholeBlock, begin, end)) {
        fill_blocks(lane, begin, end);
      }
    } catch (const DeviceError& failure) {
      if (!may_lose(lane, failure) || taken_since(begin) != lane.chunk.input.count) throw;
      lane.failure = failure;
    }
    lane.chunk.from = {{begin, reader_.position() - begin}};
    require_all_taken(begin, lane.chunk.input.count);
  }

  [[nodiscard]] std::uint64_t taken_since(std::uint64_t begin) const {
    return (reader_.position() - begin) / plan_.element_bytes;
  }

  // A kept run covers all of the input up to its end: a resumed sort reads on from there. So
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
    const bool is_compressed = plan_.job.output_form.codec != Codec::kNone;
    const io::Places places = is_compressed ? io::Places::kEven : io::Places::kAnywhere;
    return ConstByteSpan(sample_).first(reader_.sample(sample_, begin, end, places));
  }

  void fill_blocks(FormingLane& lane, std::uint64_t begin, std::uint64_t end) {
    Failure failure;
    run_workers(plan_.chunk.readers, [&](unsigned) {
      try {
        while (!failure.failed() && !lanes_.has_failed() &&
               add_block(lane, kWholeBlock, begin, end)) {
        }
      } catch (...) {
        failure.capture();
      }
    });
    failure.rethrow();
  }

  // Adds a block of [begin, end) of the input, in bytes. Returns false if there is none.
  bool add_block(FormingLane& lane, std::size_t most_bytes, std::uint64_t begin,
                 std::uint64_t end) {
    const DeviceScope scope(lane.device);
    const ByteSpan block = acquire_block(*lane.lane, meter_);
    const ReadPieces read =
        read_block(reader_, proof_, meter_, block.first(std::min(most_bytes, block.size())), end,
                   reads_in_pieces_);
    if (!reader_.known_size() && sampled_from_pipe_ == 0) {
      sampled_from_pipe_ = std::min(read.bytes, sample_.size());
      std::copy_n(block.begin(), sampled_from_pipe_, sample_.begin());
      lane.lane->begin(ConstByteSpan(sample_).first(sampled_from_pipe_));
    }
    std::uint64_t position = lanes_.place(lane, read);
    if (!reads_in_pieces_ && read.bytes > 0) {  // elements keep the order of the input
      position = (read.from.front().position_bytes - begin) / plan_.element_bytes;
    }
    put_block(*lane.lane, meter_, block, read.bytes, position);
    return read.bytes > 0;
  }

  // The first sorted chunk starts the threads that spill: one for each device, so that none waits
  // for a slower one. If the system allows fewer threads, the reader does their work.
  void spill_sorted() {
    if (!has_begun_to_spill_.exchange(true)) start_spillers();
    for (std::size_t spiller = threads_; spiller < plan_.chunk.spillers; ++spiller) {
      while (FormingLane* const lane = lanes_.emit(spiller, false)) spill(*lane);
    }
  }

  void start_spillers() {
    context_.store();  // made by one thread
    try {
      spillers_.reserve(plan_.chunk.spillers);
      while (spillers_.size() < plan_.chunk.spillers) {
        spillers_.emplace_back([this, number = spillers_.size()] { spill_all(number); });
      }
    } catch (const std::system_error&) {
      threads_ = spillers_.size();
    }
  }

  void spill_all(std::size_t spiller) {
    const auto next = [&] {
      const Wait wait(meter_, Stage::kSpill);
      return lanes_.emit(spiller, true);
    };
    try {
      while (FormingLane* const lane = next()) spill(*lane);
    } catch (...) {
      lanes_.give_up();
    }
  }

  void spill(FormingLane& lane) {
    const DeviceScope scope(lane.device);
    done_or_lost(lane, [&] {
      io::RunWriter writer = context_.store().begin_run(lane.chunk.input.count);
      RunSink sink(writer, meter_);
      lane.lane->emit(sink);
      const Span span(meter_, Stage::kSpill);
      io::Run run = writer.finish();
      if (context_.run_folder) context_.run_folder->add(context_.store(), run, lane.chunk.input);
      lanes_.free_with(lane, std::move(run));
    });
  }

  const SortContext& context_;
  const Plan& plan_;
  io::Reader& reader_;
  Proof& proof_;
  Meter* meter_;
  const OutputMaker& output_;
  FormingLanes lanes_;
  const bool reads_in_pieces_;
  std::vector<std::byte> sample_;
  std::size_t sampled_from_pipe_ = 0;
  std::atomic<bool> has_begun_to_spill_{false};
  std::atomic<std::size_t> threads_;    // spillers from this number on have none
  std::vector<std::jthread> spillers_;  // last: they end before other members are destroyed
};

}  // namespace

FormedRuns form_runs(const SortContext& context, const OutputMaker& output) {
  return RunFormation(context, output).form();
}

}  // namespace gsort
