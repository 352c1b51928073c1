#include "engine/cpu/record_chunk_lane.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "engine/cpu/lane_memory.hpp"

namespace gsort::cpu {
namespace {

// Entries of a bucket fill half of a 1 MiB L2 cache.
constexpr std::uint64_t kBucketTarget = std::uint64_t{1} << 15;

// Fewer records of a sample may be alike by chance.
constexpr std::size_t kTellingSample = 64;

// One word of the keys of each of the records.
std::vector<std::uint64_t> words_of(ConstByteSpan records, const RecordOrder& order,
                                    std::size_t word) {
  std::vector<std::uint64_t> words(records.size() / order.record_bytes());
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = order.words()[word].of(records.data() + i * order.record_bytes());
  }
  return words;
}

std::span<RecordEntry> entries_in(ByteSpan bytes) {
  return {reinterpret_cast<RecordEntry*>(bytes.data()), bytes.size() / sizeof(RecordEntry)};
}

}  // namespace

RecordChunkLane::RecordChunkLane(const EngineShape& shape, ByteSpan memory)
    : order_(*shape.records),
      footprint_(CpuRecordChunkFootprint::of(shape.chunk_elements, order_.record_bytes(),
                                             shape.threads, shape.block_bytes)),
      tasks_(footprint_.workers),
      meter_(shape.meter) {
  LaneMemory layout(memory);
  records_ = layout.take(footprint_.blocks_bytes());
  entries_ = entries_in(layout.take(footprint_.entries_bytes()));
  dealt_ = entries_in(layout.take(footprint_.entries_bytes()));
  for (unsigned worker = 0; worker < footprint_.workers; ++worker) {
    pieces_.push_back(layout.take(footprint_.piece_bytes()));
  }
  free_all_blocks();
}

void RecordChunkLane::begin(ConstByteSpan sample) {
  choose_word(sample);
  std::vector<std::uint64_t> prefixes = words_of(sample, order_, alike_.size());
  const std::uint64_t buckets = std::clamp<std::uint64_t>(
      div_up(footprint_.elements, kBucketTarget), 1, CpuRecordChunkFootprint::kMostBuckets);
  bucket_map_ = std::make_unique<BucketMap<std::uint64_t>>(prefixes, buckets);
  count_ = 0;
  has_collector_ = false;
}

void RecordChunkLane::choose_word(ConstByteSpan sample) {
  alike_.clear();
  begin_alike_ = true;
  if (sample.size() / order_.record_bytes() < kTellingSample) return;
  while (alike_.size() + 1 < order_.words().size()) {
    const std::vector<std::uint64_t> words = words_of(sample, order_, alike_.size());
    if (std::ranges::adjacent_find(words, std::not_equal_to()) != words.end()) return;
    alike_.push_back(words.front());
  }
}

bool RecordChunkLane::begins_as_sampled(const std::byte* record) const {
  for (std::size_t word = 0; word < alike_.size(); ++word) {
    if (order_.words()[word].of(record) != alike_[word]) return false;
  }
  return true;
}

void RecordChunkLane::take_first_word() {
  alike_.clear();
  const std::uint64_t stretches = footprint_.workers;
  tasks_.for_each(stretches, [&](std::size_t stretch) {
    const std::uint64_t begin = count_ * stretch / stretches;
    const std::uint64_t end = count_ * (stretch + 1) / stretches;
    take_word(entries_.subspan(begin, end - begin), order_, records_.data(), 0);
  });
}

// The lowest numbers are taken first: memory that is not needed is never touched. But the workers
// begin in huge pages of their own (CpuChunkFootprint::pages_at_once says why).
void RecordChunkLane::free_all_blocks() {
  const std::uint64_t in_page =
      std::max<std::uint64_t>(CpuChunkFootprint::kHugePageBytes / footprint_.block_bytes, 1);
  const std::uint64_t at_once = in_page * footprint_.workers;
  const std::uint64_t in_turn = round_down(footprint_.blocks, at_once);
  const std::scoped_lock lock(mutex_);
  free_.clear();
  for (std::size_t block = footprint_.blocks; block > in_turn; --block) free_.push_back(block - 1);
  for (std::size_t place = in_turn; place > 0; --place) {
    const std::uint64_t in_group = (place - 1) % at_once;
    const std::uint64_t page = in_group % footprint_.workers;
    free_.push_back(place - 1 - in_group + page * in_page + in_group / footprint_.workers);
  }
}

ByteSpan RecordChunkLane::acquire_block() {
  std::unique_lock lock(mutex_);
  block_freed_.wait(lock, [&] { return !free_.empty(); });
  const std::size_t block = free_.back();
  free_.pop_back();
  return records_.subspan(block * footprint_.block_bytes, footprint_.block_bytes);
}

std::size_t RecordChunkLane::number_of(ByteSpan block) const {
  return static_cast<std::size_t>(block.data() - records_.data()) / footprint_.block_bytes;
}

void RecordChunkLane::add(ByteSpan block, std::size_t bytes, std::uint64_t position) {
  const std::size_t records = bytes / order_.record_bytes();
  if (records == footprint_.block_records()) {
    enter(number_of(block), 0, records, position);
  } else {
    collect(block, records, position);
  }
  const std::scoped_lock lock(mutex_);
  count_ += records;
}

// A short block would waste memory that the footprint does not have: its records go to the
// collector; if some find no room there, this block becomes the next collector.
void RecordChunkLane::collect(ByteSpan block, std::size_t records, std::uint64_t position) {
  const std::scoped_lock lock(mutex_);
  const std::size_t record_bytes = order_.record_bytes();
  std::size_t moved = 0;
  if (has_collector_) {
    moved = std::min(records, footprint_.block_records() - collected_);
    std::byte* const to =
        records_.data() + collector_ * footprint_.block_bytes + collected_ * record_bytes;
    std::memcpy(to, block.data(), moved * record_bytes);
    enter(collector_, collected_, moved, position);
    collected_ += moved;
  }
  if (moved == records) {
    free_.push_back(number_of(block));
    block_freed_.notify_one();
    return;
  }
  collector_ = number_of(block);
  collected_ = records - moved;
  has_collector_ = true;
  std::memmove(block.data(), block.data() + moved * record_bytes, collected_ * record_bytes);
  enter(collector_, 0, collected_, position + moved);
}

void RecordChunkLane::enter(std::size_t block, std::size_t first, std::size_t records,
                            std::uint64_t position) {
  std::size_t slot = block * footprint_.block_records() + first;
  const std::byte* record =
      records_.data() + block * footprint_.block_bytes + first * order_.record_bytes();
  const RecordWord& prefix = order_.words()[alike_.size()];
  bool alike = true;
  for (std::size_t i = 0; i < records; ++i, ++slot, ++position, record += order_.record_bytes()) {
    entries_[position] = {static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(position),
                          prefix.of(record)};
    alike = alike && begins_as_sampled(record);
  }
  if (!alike) begin_alike_ = false;
}

void RecordChunkLane::sort(KeyForm /*form*/) {
  if (!begin_alike_) take_first_word();
  if (bucket_map_->buckets() > 1) return deal_out();
  std::swap(entries_, dealt_);
  bucket_begins_ = {0, count_};
}

// Counts, then moves: stretch by stretch of the entries, each with its own places, so that within a
// bucket they stay in order.
void RecordChunkLane::deal_out() {
  const std::size_t buckets = bucket_map_->buckets();
  const std::uint64_t stretches = footprint_.workers;
  std::vector<std::vector<std::uint64_t>> places(stretches, std::vector<std::uint64_t>(buckets));
  const auto for_each_of = [&](std::size_t stretch, const auto& f) {
    const std::uint64_t end = count_ * (stretch + 1) / stretches;
    for (std::uint64_t i = count_ * stretch / stretches; i < end; ++i) {
      f(entries_[i], (*bucket_map_)(entries_[i].prefix));
    }
  };
  tasks_.for_each(stretches, [&](std::size_t stretch) {
    for_each_of(stretch,
                [&](const RecordEntry&, std::size_t bucket) { ++places[stretch][bucket]; });
  });
  bucket_begins_.assign(1, 0);
  std::uint64_t next = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    for (auto& place : places) next += std::exchange(place[bucket], next);
    bucket_begins_.push_back(next);
  }
  tasks_.for_each(stretches, [&](std::size_t stretch) {
    for_each_of(stretch, [&](const RecordEntry& entry, std::size_t bucket) {
      dealt_[places[stretch][bucket]++] = entry;
    });
  });
}

void RecordChunkLane::emit(PieceSink& sink) {
  tasks_.for_each_in_order(
      bucket_begins_.size() - 1,
      [&](std::size_t bucket, unsigned worker) { emit_bucket(bucket, pieces_[worker], sink); },
      putting_steps(sink));
  free_all_blocks();
}

void RecordChunkLane::emit_bucket(std::size_t bucket, ByteSpan piece, PieceSink& sink) {
  const std::size_t record_bytes = order_.record_bytes();
  const std::uint64_t end = bucket_begins_[bucket + 1];
  std::uint64_t done = bucket_begins_[bucket];
  {
    Span span(meter_, Stage::kSort);
    span.add_bytes((end - done) * record_bytes);
    sort_entries(dealt_.subspan(done, end - done), order_, records_.data(), alike_.size());
  }
  while (done < end) {
    const std::uint64_t count = std::min<std::uint64_t>(piece.size() / record_bytes, end - done);
    gather_records(dealt_.subspan(done, count), record_bytes, records_.data(), piece.data());
    sink.put(done, piece.first(count * record_bytes));
    done += count;
  }
}

}  // namespace gsort::cpu
