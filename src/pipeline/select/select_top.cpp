#include "pipeline/select/select_top.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "element/repeated_keys.hpp"
#include "element/select_keys.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/proof/damage_hint.hpp"
#include "pipeline/select/select_records.hpp"
#include "pipeline/select/wanted_stretches.hpp"

namespace gsort {
namespace {

// Bytes that are written at once.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// All workers share it.
template <class Key>
struct Selection {
  const Plan& plan;
  const SelectPlan& sizes;
  KeyMap<Key> map;
  KeyMap<Key> map_of_classes;
  Proof& proof;
  // No key from the bound on is wanted. The bound only falls: a worker that still sees an old one
  // takes too many keys, never too few.
  std::atomic<Key> bound{static_cast<Key>(~Key{0})};
  std::atomic<bool> is_bounded{false};

  void lower_bound_to(Key key) {
    Key seen = bound;
    while (key < seen && !bound.compare_exchange_weak(seen, key)) {
    }
    is_bounded = true;
  }
};

// One worker's candidates, as ordered keys.
template <class Key>
class Candidates {
 public:
  Candidates(Selection<Key>& selection, ByteSpan memory)
      : all_(selection),
        limit_(*selection.plan.job.top),
        room_(reinterpret_cast<Key*>(memory.data()), selection.sizes.candidates),
        scratch_(reinterpret_cast<Key*>(memory.data() + selection.sizes.candidate_bytes),
                 selection.sizes.candidates) {}

  // Whether an element may be wanted: its key with this ordered number, of 32 bits, and this
  // position are the key.
  [[nodiscard]] bool may_want(std::uint64_t key, std::uint64_t position) const {
    return !all_.is_bounded || (key << 32 | position) < all_.bound;
  }

  // Takes the keys of a block that may be wanted.
  void add(ConstByteSpan block, std::uint64_t /*first_index*/) {
    const std::span<const Key> raw{reinterpret_cast<const Key*>(block.data()),
                                   block.size() / sizeof(Key)};
    if (room_.size() - count_ < raw.size()) reduce();
    const std::span<Key> taken = take(raw);
    map_to_ordered<Key>(taken, taken, all_.map);
    count_ += taken.size();
    const bool most_are_taken = all_.is_bounded && 2 * taken.size() > raw.size();
    if (are_many_candidates(count_, limit_, most_are_taken)) reduce();
  }

  // Sorts the candidates and keeps the wanted ones.
  void reduce() {
    const std::span<Key> keys = room_.first(count_);
    cpu::cache_sort(keys, scratch_.first(count_));
    if (all_.plan.job.is_distinct()) drop_repeats();
    if (count_ > limit_) cut();
    if (limit_ > 0 && count_ == limit_) all_.lower_bound_to(room_[limit_ - 1]);
  }

  // Adds the candidates of another worker. Requires: both have been reduced.
  void merge(const Candidates& other) {
    const std::span<const Key> keys = other.room_.first(other.count_);
    std::memcpy(room_.data() + count_, keys.data(), keys.size_bytes());
    count_ += keys.size();
    reduce();
  }

  // Requires: reduced. Call it last.
  [[nodiscard]] ConstByteSpan kept() const {
    const std::span<Key> keys = room_.first(count_);
    map_to_raw<Key>(keys, keys, all_.map);
    return std::as_bytes(keys);
  }

 private:
  std::span<Key> take(std::span<const Key> raw) {
    Key* const to = room_.data() + count_;
    if (!all_.is_bounded) {
      std::memcpy(to, raw.data(), raw.size_bytes());
      return {to, raw.size()};
    }
    const auto selected = select_below<Key>(raw, all_.map, all_.bound, to);
    const std::span<Key> taken(to, selected.taken);
    // Fingerprints the block again: with the fingerprint from reading it, the sum would be right
    // whatever keys were taken.
    Fingerprint left = all_.proof.look(std::as_bytes(raw));
    left -= all_.proof.look(std::as_bytes(taken));
    all_.proof.add_left_out(left, selected.least_left);
    return taken;
  }

  void drop_repeats() {
    if (count_ == 0) return;
    const std::span<Key> rest = room_.subspan(1, count_ - 1);
    const auto class_of = [&](Key key) { return all_.map_of_classes.class_of_ordered(key); };
    const std::size_t distinct =
        1 + count_changes<Key>(room_.first(count_), all_.map_of_classes, class_of);
    const std::size_t stay =
        all_.map_of_classes.folds_classes
            ? split_repeats<Key>(room_.front(), rest, rest.data(), scratch_.data(), class_of)
            : split_repeats<Key>(room_.front(), rest, rest.data(), scratch_.data());
    const std::span<Key> repeats = scratch_.first(rest.size() - stay);
    map_to_raw<Key>(repeats, repeats, all_.map);
    all_.proof.add_dropped(std::as_bytes(repeats));
    count_ = 1 + stay;
    if (count_ != distinct) {
      throw Error(ErrorKind::kCorrupt, "dropping repeats",
                  "elements that are not repeats were dropped")
          .hint(kDamageHint);
    }
  }

  void cut() {
    const std::span<Key> beyond = room_.subspan(limit_, count_ - limit_);
    const std::uint64_t least = beyond.front();
    map_to_raw<Key>(beyond, beyond, all_.map);
    all_.proof.add_left_out(all_.proof.look(std::as_bytes(beyond)), least);
    count_ = limit_;
  }

  Selection<Key>& all_;
  const std::uint64_t limit_;
  std::span<Key> room_;
  std::span<Key> scratch_;
  std::uint64_t count_ = 0;
};

// Returns the elements read.
template <class Candidates>
std::uint64_t read_all(const SortContext& context, std::vector<Candidates>& candidates) {
  const Job& job = context.plan.job;
  const std::uint64_t block_bytes = context.plan.chunk.block_bytes;
  const bool numbers_wanted = WantedStretches::are_of(job);
  const std::uint64_t element_bytes =
      numbers_wanted ? job.numbered->bytes() : context.plan.element_bytes;
  if (numbers_wanted) context.reader->number_elements({.element_bytes = element_bytes});
  std::atomic<std::uint64_t> elements{0};
  Failure failure;
  run_workers(static_cast<unsigned>(candidates.size()), [&](unsigned worker) {
    try {
      const ByteSpan block = context.memory.subspan(worker * block_bytes, block_bytes);
      std::optional<WantedStretches> wanted;
      if (numbers_wanted) wanted.emplace(job, *context.proof, context.meter);
      const auto next = [&] {
        return wanted ? wanted->read_next(*context.reader, block)
                      : read_next(*context.reader, context.meter, block);
      };
      while (const auto read = failure.failed() ? std::nullopt : next()) {
        const ConstByteSpan bytes = block.first(read->bytes);
        elements += (wanted ? wanted->add_input(bytes) : context.proof->add_input(bytes)).count;
        const std::uint64_t first = read->position_bytes / element_bytes;
        Span span(context.meter, Stage::kSort);
        span.add_bytes(bytes.size());
        wanted ? wanted->add(bytes, first, candidates[worker])
               : candidates[worker].add(bytes, first);
      }
      const Span span(context.meter, Stage::kSort);
      candidates[worker].reduce();
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
  if (numbers_wanted) context.reader->number_elements(job.numbering());
  return elements;
}

// Puts pieces of whole elements.
void put_all(ConstByteSpan elements, std::uint64_t element_bytes, PieceSink& sink) {
  const std::size_t most = round_up(kPieceBytes, element_bytes);
  for (std::uint64_t position = 0; !elements.empty();) {
    const ConstByteSpan piece = elements.first(std::min(elements.size(), most));
    sink.put(position, piece);
    position += piece.size() / element_bytes;
    elements = elements.subspan(piece.size());
  }
}

template <class Candidates, class Selection>
std::uint64_t select(const SortContext& context, Selection& selection, const OutputMaker& output) {
  const auto& sizes = context.plan.as<SelectPlan>();
  std::vector<Candidates> candidates;
  candidates.reserve(sizes.workers);
  const ChunkPlan& chunk = context.plan.chunk;
  const std::uint64_t blocks_bytes = sizes.workers * chunk.block_bytes;
  const std::uint64_t worker_bytes = (chunk.arena_bytes - blocks_bytes) / sizes.workers;
  for (unsigned worker = 0; worker < sizes.workers; ++worker) {
    const std::uint64_t begin = blocks_bytes + worker * worker_bytes;
    candidates.emplace_back(selection, context.memory.subspan(begin, worker_bytes));
  }
  const std::uint64_t elements = read_all(context, candidates);
  Candidates& first = candidates.front();
  ConstByteSpan kept;
  {
    const Span span(context.meter, Stage::kMerge);
    for (unsigned worker = 1; worker < sizes.workers; ++worker) {
      first.merge(candidates[worker]);
    }
    kept = first.kept();
  }
  put_all(kept, context.plan.element_bytes, output(elements));
  return elements;
}

template <class Key>
std::uint64_t select_keys(const SortContext& context, const OutputMaker& output) {
  const Plan& plan = context.plan;
  Selection<Key> selection{plan, plan.as<SelectPlan>(), KeyMap<Key>::of(plan.job.element.key),
                           KeyMap<Key>::classes_of(plan.job.element.key), *context.proof};
  if (*plan.job.top == 0) selection.lower_bound_to(0);
  return select<Candidates<Key>>(context, selection, output);
}

}  // namespace

std::uint64_t select_top(const SortContext& context, const OutputMaker& output) {
  const Plan& plan = context.plan;
  if (plan.job.element.records) {
    RecordSelection selection{plan, plan.as<SelectPlan>(), RecordOrder(*plan.job.element.records),
                              *context.proof};
    return select<RecordCandidates>(context, selection, output);
  }
  return plan.element_bytes == 4 ? select_keys<std::uint32_t>(context, output)
                                 : select_keys<std::uint64_t>(context, output);
}

}  // namespace gsort
