#include "pipeline/compare_inputs.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/tasks.hpp"
#include "element/key_loops.hpp"
#include "element/member_keys.hpp"
#include "element/repeated_keys.hpp"
#include "pipeline/input/sorted_window.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

Error dropped_others(const char* doing) {
  return Error(ErrorKind::kCorrupt, doing, "keys that should stay were dropped, or others were not")
      .hint(kDamageHint);
}

template <class Key>
class Comparison {
 public:
  using Keys = std::span<Key>;

  explicit Comparison(const SortContext& context)
      : plan_(context.plan),
        sizes_(plan_.as<SetPlan>()),
        map_(KeyMap<Key>::of(plan_.job.element.key)),
        map_of_classes_(KeyMap<Key>::classes_of(plan_.job.element.key)),
        order_(plan_.job.element),
        stay_(plan_.job.set_operation == SetOperation::kIntersect ? Stay::kMembers : Stay::kRest),
        proof_(*context.proof),
        meter_(context.meter),
        tasks_(plan_.threads),
        scratch_(context.memory.last(plan_.threads * sizes_.piece_bytes)) {
    windows_.reserve(context.reader->inputs());
    for (std::size_t input = 0; input < context.reader->inputs(); ++input) {
      windows_.emplace_back(
          SortedInput(*context.reader, input, plan_.job.element, order_, proof_, meter_), order_,
          context.memory.subspan(input * sizes_.window_bytes, sizes_.window_bytes));
    }
  }

  std::uint64_t run(const OutputMaker& output) {
    PieceSink* sink = nullptr;
    for (;;) {
      fill_all(windows_, plan_.threads);
      if (!anything_left(windows_)) break;
      take_slices();
      compare_pieces();
      drop_others();
      if (pieces_.empty()) continue;
      if (sink == nullptr) sink = &output(std::nullopt);
      put_pieces(*sink);
    }
    if (sink == nullptr) output(0);
    return elements_;
  }

 private:
  // A stretch of the first input's slice; of its keys those that stay.
  struct Piece {
    Keys keys;
    Key before = 0;  // stands in front of the first one, and is another key where none does
    std::uint64_t position = 0;  // in the output
  };

  // Calls f(block) for stretches of all slices from the one of `first` on.
  template <class F>
  void for_each_block(std::size_t first, const F& f) {
    std::vector<Keys> blocks;
    for (const Keys slice : std::span(slices_).subspan(first)) add_pieces(slice, blocks);
    tasks_.for_each(blocks.size(), [&](std::size_t number) { f(blocks[number]); });
  }

  void add_pieces(Keys slice, std::vector<Keys>& pieces) const {
    const std::size_t most = sizes_.piece_bytes / sizeof(Key);
    for (; !slice.empty(); slice = slice.subspan(std::min(most, slice.size()))) {
      pieces.push_back(slice.first(std::min(most, slice.size())));
    }
  }

  // Cuts all windows at the bound; keys become ordered numbers.
  void take_slices() {
    const WindowBound bound = bound_of(windows_, order_);
    const auto class_of = [&](Key key) { return map_of_classes_.to_ordered(key); };
    slices_.clear();
    for (SortedWindow& window : windows_) {
      const ByteSpan taken = window.take_up_to(bound.element, true);
      slices_.emplace_back(reinterpret_cast<Key*>(taken.data()), taken.size() / sizeof(Key));
      elements_ += slices_.back().size();
      for (const Keys equal : floats_of_several_bits(slices_.back(), map_of_classes_, class_of)) {
        if (!equal.empty()) proof_.make_alike(std::as_writable_bytes(equal));
      }
    }
    if (map_.is_identity()) return;
    for_each_block(0, [&](Keys keys) {
      const Span span(meter_, Stage::kMerge);
      map_to_ordered<Key>(keys, keys, map_);
    });
  }

  // Leaves those of which keys stay.
  void compare_pieces() {
    std::vector<Keys> stretches;
    add_pieces(slices_.front(), stretches);
    pieces_.clear();
    for (const Keys keys : stretches) {
      pieces_.push_back({keys, last_.value_or(static_cast<Key>(~keys.front()))});
      last_ = keys.back();
    }
    tasks_.for_each_in_order(pieces_.size(),
                             [&](std::size_t number, unsigned worker) {
                               Span span(meter_, Stage::kMerge);
                               span.add_bytes(pieces_[number].keys.size_bytes());
                               auto* const room = scratch_.data() + worker * sizes_.piece_bytes;
                               compare(pieces_[number], reinterpret_cast<Key*>(room));
                             },
                             {});
    std::erase_if(pieces_, [](const Piece& piece) { return piece.keys.empty(); });
  }

  // Leaves the keys that stay. What is found is known in advance from another search.
  void compare(Piece& piece, Key* dropped) {
    Keys& keys = piece.keys;
    const std::size_t distinct = count_changes<Key>(keys) + (keys.front() != piece.before ? 1 : 0);
    keep(keys, split_repeats<Key>(piece.before, keys, keys.data(), dropped), dropped);
    if (keys.size() != distinct) throw dropped_others("dropping repeats");
    for (std::size_t input = 1; input < slices_.size() && !keys.empty(); ++input) {
      const Keys slice = slices_[input];
      const auto begin = std::ranges::lower_bound(slice, keys.front());
      const std::span<const Key> others(begin, std::ranges::upper_bound(slice, keys.back()));
      const KeySum members = proof_.enabled() ? sum_members<Key>(keys, others) : KeySum{};
      const std::size_t stayed = split_members<Key>(keys, others, stay_, keys.data(), dropped);
      const Keys found =
          stay_ == Stay::kMembers ? keys.first(stayed) : Keys(dropped, keys.size() - stayed);
      if (proof_.enabled() && sum_keys<Key>(found) != members) {
        throw dropped_others("comparing inputs");
      }
      keep(keys, stayed, dropped);
    }
    map_to_raw<Key>(keys, keys, map_);
  }

  // Of the keys the first `stayed` stay; the others are in `dropped`.
  void keep(Keys& keys, std::size_t stayed, Key* dropped) {
    drop({dropped, keys.size() - stayed});
    keys = keys.first(stayed);
  }

  void drop(Keys keys) {
    if (keys.empty()) return;
    map_to_raw<Key>(keys, keys, map_);
    proof_.add_dropped(std::as_bytes(keys));
  }

  // Nothing of the other inputs comes out.
  void drop_others() {
    for_each_block(1, [&](Keys keys) { drop(keys); });
  }

  void put_pieces(PieceSink& sink) {
    for (Piece& piece : pieces_) {
      piece.position = position_;
      position_ += piece.keys.size();
    }
    tasks_.for_each_in_order(
        pieces_.size(),
        [&](std::size_t number, unsigned) {
          sink.put(pieces_[number].position, std::as_bytes(pieces_[number].keys));
        },
        putting_steps(sink));
  }

  const Plan& plan_;
  const SetPlan& sizes_;
  const KeyMap<Key> map_;
  const KeyMap<Key> map_of_classes_;
  const ElementOrder order_;
  const Stay stay_;
  Proof& proof_;
  Meter* meter_;
  TaskArena tasks_;
  ByteSpan scratch_;  // of each worker, for what it drops of a piece
  std::vector<SortedWindow> windows_;
  std::vector<Keys> slices_;   // of the windows, up to the bound
  std::vector<Piece> pieces_;  // of the first slice
  std::optional<Key> last_;    // of the first input, so far
  std::uint64_t elements_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace

std::uint64_t compare_inputs(const SortContext& context, const OutputMaker& output) {
  return with_key_of_width(context.plan.element_bytes, [&](auto width) {
    return Comparison<decltype(width)>(context).run(output);
  });
}

}  // namespace gsort
