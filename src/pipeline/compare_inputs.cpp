#include "pipeline/compare_inputs.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/tasks.hpp"
#include "base/units.hpp"
#include "pipeline/compare_keys.hpp"
#include "pipeline/compare_records.hpp"
#include "pipeline/input/sorted_window.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

Error dropped_others(const char* doing) {
  return Error(ErrorKind::kCorrupt, doing, "keys that should stay were dropped, or others were not")
      .hint(kDamageHint);
}

template <class Compare>
class Comparison {
 public:
  explicit Comparison(const SortContext& context)
      : plan_(context.plan),
        sizes_(plan_.as<SetPlan>()),
        compare_(plan_.job.element),
        order_(plan_.job.element),
        bytes_(order_.element_bytes()),
        stay_(plan_.job.intersect ? Stay::kMembers : Stay::kRest),
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
  // A stretch of the first input's slice; after compare(), the elements of it that stay.
  struct Piece {
    ByteSpan elements;
    std::string before;          // the element before the first one
    std::uint64_t position = 0;  // in the output
  };

  // Calls f(block) for stretches of all slices from the one of `first` on.
  template <class F>
  void for_each_block(std::size_t first, const F& f) {
    std::vector<ByteSpan> blocks;
    for (const ByteSpan slice : std::span(slices_).subspan(first)) add_pieces(slice, blocks);
    tasks_.for_each(blocks.size(), [&](std::size_t number) { f(blocks[number]); });
  }

  void add_pieces(ByteSpan slice, std::vector<ByteSpan>& pieces) const {
    const std::size_t most = round_down(sizes_.piece_bytes, bytes_);
    for (; !slice.empty(); slice = slice.subspan(std::min(most, slice.size()))) {
      pieces.push_back(slice.first(std::min(most, slice.size())));
    }
  }

  // Cuts all windows at the bound; keys become ordered numbers.
  void take_slices() {
    const WindowBound bound = bound_of(windows_, order_);
    slices_.clear();
    for (SortedWindow& window : windows_) {
      slices_.push_back(window.take_up_to(bound.element, true));
      elements_ += slices_.back().size() / bytes_;
      compare_.make_alike(slices_.back(), proof_);
    }
    if (!compare_.has_ordered_form()) return;
    for_each_block(0, [&](ByteSpan elements) {
      const Span span(meter_, Stage::kMerge);
      compare_.to_ordered(elements);
    });
  }

  // Makes and compares the pieces, and keeps those with elements that stay.
  void compare_pieces() {
    std::vector<ByteSpan> stretches;
    add_pieces(slices_.front(), stretches);
    pieces_.clear();
    for (const ByteSpan elements : stretches) {
      const ByteSpan last = elements.last(bytes_);
      pieces_.push_back({elements, last_});
      last_.assign(reinterpret_cast<const char*>(last.data()), last.size());
    }
    tasks_.for_each_in_order(pieces_.size(),
                             [&](std::size_t number, unsigned worker) {
                               Span span(meter_, Stage::kMerge);
                               span.add_bytes(pieces_[number].elements.size());
                               compare(pieces_[number],
                                       scratch_.data() + worker * sizes_.piece_bytes);
                             },
                             {});
    std::erase_if(pieces_, [](const Piece& piece) { return piece.elements.empty(); });
  }

  // Keeps the elements that stay, and checks them against the results of other searches.
  void compare(Piece& piece, std::byte* dropped) {
    ByteSpan& elements = piece.elements;
    const std::size_t distinct = compare_.count_distinct(piece.before, elements);
    keep(elements, compare_.split_repeats(piece.before, elements, dropped), dropped);
    if (elements.size() != distinct * bytes_) throw dropped_others("dropping repeats");
    for (std::size_t input = 1; input < slices_.size() && !elements.empty(); ++input) {
      const ByteSpan others = compare_.range_of(slices_[input], elements);
      using Sum = typename Compare::Sum;
      const Sum members = proof_.enabled() ? compare_.sum_members(elements, others) : Sum{};
      const std::size_t stayed = compare_.split_members(elements, others, stay_, dropped);
      const ByteSpan found = stay_ == Stay::kMembers
                                 ? elements.first(stayed * bytes_)
                                 : ByteSpan(dropped, elements.size() - stayed * bytes_);
      if (proof_.enabled() && compare_.sum(found) != members) {
        throw dropped_others("comparing inputs");
      }
      keep(elements, stayed, dropped);
    }
    compare_.to_raw(elements);
  }

  // The first `stayed` elements stay; the others are in `dropped`.
  void keep(ByteSpan& elements, std::size_t stayed, std::byte* dropped) {
    drop({dropped, elements.size() - stayed * bytes_});
    elements = elements.first(stayed * bytes_);
  }

  void drop(ByteSpan elements) {
    if (elements.empty()) return;
    compare_.to_raw(elements);
    proof_.add_dropped(elements);
  }

  // Adds the elements of the other inputs to the dropped ones.
  void drop_others() {
    for_each_block(1, [&](ByteSpan elements) { drop(elements); });
  }

  void put_pieces(PieceSink& sink) {
    for (Piece& piece : pieces_) {
      piece.position = position_;
      position_ += piece.elements.size() / bytes_;
    }
    tasks_.for_each_in_order(
        pieces_.size(),
        [&](std::size_t number, unsigned) {
          sink.put(pieces_[number].position, pieces_[number].elements);
        },
        putting_steps(sink));
  }

  const Plan& plan_;
  const SetPlan& sizes_;
  const Compare compare_;
  const ElementOrder order_;
  const std::size_t bytes_;  // of an element
  const Stay stay_;
  Proof& proof_;
  Meter* meter_;
  TaskArena tasks_;
  ByteSpan scratch_;  // of each worker, for the elements of a piece that it drops
  std::vector<SortedWindow> windows_;
  std::vector<ByteSpan> slices_;  // of the windows, up to the bound
  std::vector<Piece> pieces_;     // of the first slice
  std::string last_;              // the last element of the first input, so far
  std::uint64_t elements_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace

std::uint64_t compare_inputs(const SortContext& context, const OutputMaker& output) {
  if (context.plan.job.element.records) return Comparison<RecordCompare>(context).run(output);
  return with_key_of_width(context.plan.element_bytes, [&](auto width) {
    return Comparison<KeyCompare<decltype(width)>>(context).run(output);
  });
}

}  // namespace gsort
