// CpuMergeLane: merges the slices of one part on one core; the pipeline runs as many lanes as there
// are cores.
//
// The part is cut into stretches that fit the cache with their scratch. Equal keys are
// indistinguishable, so a cut may lie after any key that ends a stretch of half its room or more:
// its value is guessed from the density of the last keys. If the guesses fail, few values may be so
// frequent that they fill a stretch. Then the least values are taken one after the other; the last
// one is taken slice by slice until the stretch is full. If a few values do not fill half of it, an
// exact split (kway_split.hpp) finds the cut. With many slices, most of the time goes into cuts: a
// guess searches each slice once, close to its last cut, while a split searches it for every bit of
// the key. A stretch is merged by cache_merge(): few branches depend on its keys, while a tree of
// losers takes a mispredicted step a key for each doubling of slices. A stretch of one slice is not
// copied, and slices that follow each other are not sorted. Slices of records that are one key are
// mapped first.
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

  // Moves cuts_ by one stretch: no key after them is less than one before them. Returns its number
  // of keys, of the part's `total`; `done` keys are before it.
  std::uint64_t advance_cuts(const std::vector<Slice>& slices, std::uint64_t done,
                             std::uint64_t total);
  // The same by guesses. If none was good, returns 0 and leaves cuts_ unchanged.
  std::uint64_t guess_cuts(const std::vector<Slice>& slices);
  // The same by the least values, if a few of them fill half of the stretch. Else returns 0 and
  // leaves cuts_ unchanged.
  std::uint64_t take_ties(const std::vector<Slice>& slices);
  // The same by a split: `end` keys are before the cuts then.
  void split_at(const std::vector<Slice>& slices, std::uint64_t end);
  // The `count` keys from begin_ to cuts_, in order: where they were, or in stretch_.
  std::span<Key> merge_stretch(const std::vector<Slice>& slices, std::uint64_t count);

  KeyMap<Key> map_;
  bool keys_are_records_;  // the elements are records, which come and leave in the form of the
                           // files
  ByteSpan input_;
  std::span<Key> stretch_;
  std::span<Key> scratch_;
  std::vector<std::uint64_t> begin_;  // of the stretch, in each slice
  std::vector<std::uint64_t> cuts_;   // its end
  Key last_value_ = 0;                // the last stretch has no greater key
  double key_density_ = 0;            // its keys for each value in its range; 0: unknown
  bool leaves_ties_ = false;          // take_ties() has filled its stretch
  bool has_bounds_ = false;           // a guess has found high_: cuts behind too many keys,
  Key bound_ = 0;                     // none of which is greater
  std::vector<std::uint64_t> high_;
  std::vector<std::uint64_t> probe_;
  std::vector<std::span<const Key>> parts_;  // of the stretch
};

extern template class CpuMergeLane<std::uint32_t>;
extern template class CpuMergeLane<std::uint64_t>;
extern template class CpuMergeLane<UInt128>;

}  // namespace gsort::cpu
