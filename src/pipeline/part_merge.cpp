#include "pipeline/part_merge.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/parallel.hpp"

namespace gsort {
namespace {

// Calls load(run, scratch) for each slice of `part` that has keys, from at most as many threads as
// there are scratch buffers.
template <class F>
void load_each(const PartMerge& merge, const Part& part, std::span<const ByteSpan> scratch,
               const F& load) {
  const std::optional<int> device = DeviceScope::device();
  const auto loaders = static_cast<unsigned>(scratch.size());
  for_each_number(loaders, part.begin.size(), [&](unsigned loader, std::size_t run) {
    if (part.begin[run] == part.end[run]) return;
    const DeviceScope scope(device);
    Span span(merge.meter, Stage::kLoad);
    span.add_bytes((part.end[run] - part.begin[run]) * merge.element_bytes);
    load(run, scratch[loader]);
  });
}

// Loads the slices as keys, back to back.
void load_slices(const PartMerge& merge, const Part& part, ByteSpan input,
                 std::span<const ByteSpan> scratch) {
  std::vector<ByteSpan> places(merge.runs.size());
  for (std::size_t run = 0; run < places.size(); ++run) {
    places[run] = input.first((part.end[run] - part.begin[run]) * merge.element_bytes);
    input = input.subspan(places[run].size());
  }
  load_each(merge, part, scratch, [&](std::size_t run, ByteSpan room) {
    merge.runs[run].read_range(part.begin[run], part.end[run], places[run], room);
  });
}

// The layout of a part's slices in a lane's input in stored form: the blocks of all runs, run by
// run, and then the table of the wanted keys of each block.
class StoredLayout {
 public:
  StoredLayout(std::span<const io::Run> runs, const Part& part) : slices_(runs.size() + 1) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const io::RunFences fences = runs[run].fences();
      const std::uint64_t begin = part.begin[run];
      const std::uint64_t end = part.end[run];
      slices_[run + 1] = {slices_[run].bytes + fences.stored_bytes(begin, end),
                          slices_[run].pieces + fences.blocks_of(begin, end),
                          slices_[run].keys + (end - begin)};
    }
  }

  // Blocks of which only some keys are wanted may need more room than there is.
  [[nodiscard]] bool fits(ByteSpan input) const { return bytes() <= input.size(); }
  [[nodiscard]] std::uint64_t bytes() const {
    return slices_.back().bytes + slices_.back().pieces * sizeof(StoredKeys);
  }
  [[nodiscard]] std::span<StoredKeys> pieces(ByteSpan input) const {
    return {reinterpret_cast<StoredKeys*>(input.data() + slices_.back().bytes),
            slices_.back().pieces};
  }

  // Loads the part's slice of a run.
  void load(const io::Run& run, std::size_t number, const Part& part, ByteSpan input,
            ByteSpan scratch) const {
    const Slice& slice = slices_[number];
    const Slice& behind = slices_[number + 1];
    const std::span<StoredKeys> mine =
        pieces(input).subspan(slice.pieces, behind.pieces - slice.pieces);
    run.read_stored(part.begin[number], part.end[number],
                    input.subspan(slice.bytes, behind.bytes - slice.bytes), mine, scratch);
    for (StoredKeys& piece : mine) {
      piece.payload += slice.bytes;
      piece.position += slice.keys;
    }
  }

 private:
  // The beginning of a slice, in bytes, pieces and keys.
  struct Slice {
    std::uint64_t bytes = 0;
    std::size_t pieces = 0;
    std::uint64_t keys = 0;
  };
  std::vector<Slice> slices_;
};

}  // namespace

void merge_part(const PartMerge& merge, const Part& part, MergeLane& lane,
                std::span<const ByteSpan> scratch, PieceSink& sink) {
  const std::vector<std::uint64_t> counts = part.counts();
  const ByteSpan input = lane.input();
  StoredMerger* const stored_merger = lane.stored_merger();
  std::optional<StoredLayout> layout;
  if (stored_merger != nullptr) layout.emplace(merge.runs, part);
  const auto has_keys = [](std::uint64_t count) { return count > 0; };
  const auto slices = static_cast<std::size_t>(std::ranges::count_if(counts, has_keys));
  const bool stored =
      layout && layout->fits(input) &&
      stored_merger->takes(slices, layout->bytes(), part.range.elements() * merge.element_bytes);
  if (stored) {
    load_each(merge, part, scratch, [&](std::size_t run, ByteSpan room) {
      layout->load(merge.runs[run], run, part, input, room);
    });
  } else {
    load_slices(merge, part, input, scratch);
  }
  Span span(merge.meter, Stage::kMerge);
  span.add_bytes(part.range.elements() * merge.element_bytes);
  if (stored) {
    stored_merger->merge_stored(counts, layout->pieces(input), part.range.begin, merge.form, sink);
  } else {
    lane.merge(counts, part.range.begin, merge.form, sink);
  }
}

}  // namespace gsort
