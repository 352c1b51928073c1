#include "pipeline/select_top.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "element/key_loops.hpp"
#include "element/repeated_keys.hpp"
#include "element/select_keys.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

// Written at once.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// What holds for all workers.
template <class Key>
struct Selection {
  const Plan& plan;
  const SelectPlan& sizes;
  KeyMap<Key> map;
  KeyMap<Key> map_of_classes;
  Proof& proof;
  // Keys from here on are not wanted any more. It only falls; a worker that still sees an old one
  // takes too much, never too little.
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

  // Takes what may be wanted of a block.
  void add(std::span<const Key> raw) {
    if (room_.size() - count_ < raw.size()) reduce();
    const std::span<Key> taken = take(raw);
    map_to_ordered<Key>(taken, taken, all_.map);
    count_ += taken.size();
    if (count_ >= limit_ + std::max<std::uint64_t>(limit_, kFewCandidates)) reduce();
  }

  // Sorts the candidates and keeps the first ones that are wanted.
  void reduce() {
    const std::span<Key> keys = room_.first(count_);
    cpu::cache_sort(keys, scratch_.first(count_));
    if (all_.plan.job.unique) drop_repeats();
    if (count_ > limit_) cut();
    if (limit_ > 0 && count_ == limit_) all_.lower_bound_to(room_[limit_ - 1]);
  }

  // Takes over what another worker has kept. Requires: both have been reduced.
  void merge(const Candidates& other) {
    const std::span<const Key> keys = other.kept();
    std::memcpy(room_.data() + count_, keys.data(), keys.size_bytes());
    count_ += keys.size();
    reduce();
  }

  [[nodiscard]] std::span<Key> kept() const { return room_.first(count_); }

 private:
  // Sorting fewer than this costs next to nothing, and lowers the bound.
  static constexpr std::uint64_t kFewCandidates = 4096;

  std::span<Key> take(std::span<const Key> raw) {
    Key* const to = room_.data() + count_;
    if (!all_.is_bounded) {
      std::memcpy(to, raw.data(), raw.size_bytes());
      return {to, raw.size()};
    }
    const auto selected = select_below<Key>(raw, all_.map, all_.bound, to);
    const std::span<Key> taken(to, selected.taken);
    // The block is looked at again: with what was seen of it when it was read, any keys that were
    // taken would make a sum that is right.
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

template <class Key>
std::uint64_t read_all(Selection<Key>& selection, const SortContext& context,
                       std::vector<Candidates<Key>>& candidates) {
  const std::uint64_t block_bytes = selection.plan.chunk.block_bytes;
  std::atomic<std::uint64_t> elements{0};
  Failure failure;
  run_workers(selection.sizes.workers, [&](unsigned worker) {
    try {
      const ByteSpan block = context.memory.subspan(worker * block_bytes, block_bytes);
      while (const auto read = failure.failed()
                                   ? std::nullopt
                                   : read_next(*context.reader, context.meter, block)) {
        const ConstByteSpan bytes = block.first(read->bytes);
        elements += selection.proof.add_input(bytes).count;
        Span span(context.meter, Stage::kSort);
        span.add_bytes(bytes.size());
        candidates[worker].add(
            {reinterpret_cast<const Key*>(bytes.data()), bytes.size() / sizeof(Key)});
      }
      const Span span(context.meter, Stage::kSort);
      candidates[worker].reduce();
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
  return elements;
}

void put_all(ConstByteSpan keys, std::uint64_t key_bytes, PieceSink& sink) {
  for (std::uint64_t position = 0; !keys.empty();) {
    const ConstByteSpan piece = keys.first(std::min(keys.size(), kPieceBytes));
    sink.put(position, piece);
    position += piece.size() / key_bytes;
    keys = keys.subspan(piece.size());
  }
}

template <class Key>
std::uint64_t select(const SortContext& context, const OutputMaker& output) {
  const Plan& plan = context.plan;
  const auto& sizes = plan.as<SelectPlan>();
  Selection<Key> selection{plan, sizes, KeyMap<Key>::of(plan.job.element.key),
                           KeyMap<Key>::classes_of(plan.job.element.key), *context.proof};
  if (*plan.job.top == 0) selection.lower_bound_to(0);
  std::vector<Candidates<Key>> candidates;
  const std::uint64_t blocks_bytes = sizes.workers * plan.chunk.block_bytes;
  for (unsigned worker = 0; worker < sizes.workers; ++worker) {
    const std::uint64_t begin = blocks_bytes + std::uint64_t{2} * worker * sizes.candidate_bytes;
    candidates.emplace_back(selection, context.memory.subspan(begin, 2 * sizes.candidate_bytes));
  }
  const std::uint64_t elements = read_all(selection, context, candidates);
  Candidates<Key>& first = candidates.front();
  {
    const Span span(context.meter, Stage::kMerge);
    for (unsigned worker = 1; worker < sizes.workers; ++worker) {
      first.merge(candidates[worker]);
    }
    map_to_raw<Key>(first.kept(), first.kept(), selection.map);
  }
  put_all(std::as_bytes(first.kept()), sizeof(Key), output(elements));
  return elements;
}

}  // namespace

std::uint64_t select_top(const SortContext& context, const OutputMaker& output) {
  return context.plan.element_bytes == 4 ? select<std::uint32_t>(context, output)
                                         : select<std::uint64_t>(context, output);
}

}  // namespace gsort
