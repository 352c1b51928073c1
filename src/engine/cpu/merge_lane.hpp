// CpuMergeLane: merges the slices of one part on one core; the pipeline runs as many lanes as there
// are cores.
//
// The part is cut by exact splits (kway_split.hpp) into stretches that fit the cache with their
// scratch. A stretch is a few sorted slices of known range, and the fastest way measured to merge
// them is cache_sort: its cost does not grow with the number of slices, where a tree of losers
// takes a mispredicted step a key for each doubling. What one slice gives alone is not even copied,
// and slices that follow each other are not sorted. Slices of records that are one key are mapped
// first.
#pragma once

#include <vector>

#include "element/element.hpp"
#include "engine/engine.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {

template <class Key>
class CpuMergeLane final : public MergeLane {
 public:
  CpuMergeLane(const EngineShape& shape, std::uint64_t part_elements, ByteSpan memory);

  [[nodiscard]] ByteSpan input() override { return input_; }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override;

 private:
  struct Slice {
    Key* keys;
    std::uint64_t count;
  };

  // Moves `cuts_` on, so that the keys before them are the first `end` of the part.
  void advance_cuts(const std::vector<Slice>& slices, std::uint64_t end);
  // The `count` keys from the cuts at `begin` to cuts_, in order: where they were, or in stretch_.
  std::span<Key> merge_stretch(const std::vector<Slice>& slices,
                               const std::vector<std::uint64_t>& begin, std::uint64_t count);

  KeyMap<Key> map_;
  bool keys_are_records_;  // they come and leave as such, in the form of the files
  ByteSpan input_;
  std::span<Key> stretch_;
  std::span<Key> scratch_;
  std::vector<std::uint64_t> cuts_;
  std::vector<std::uint64_t> high_;
  std::vector<std::uint64_t> probe_;
};

extern template class CpuMergeLane<std::uint32_t>;
extern template class CpuMergeLane<std::uint64_t>;
extern template class CpuMergeLane<UInt128>;

}  // namespace gsort::cpu
