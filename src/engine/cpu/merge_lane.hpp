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
//
// A part of blocks is not unpacked as a whole, which would take its keys through memory once more.
// Each slice has a window in the cache, to which its next groups of keys are unpacked. A stretch is
// all keys that are not above the least last key of the windows; what is left of a window moves to
// its front. Example, windows of three keys, slices 1 4 6 9 and 2 3 5 8: 1 4 6 | 2 3 5 gives
// 1 2 3 4 5, then 6 9 | 8 the rest.
#pragma once

#include <vector>

#include "element/element.hpp"
#include "element/packed_keys.hpp"
#include "engine/cpu/stored_slice.hpp"
#include "engine/engine.hpp"
#include "engine/footprint.hpp"

namespace gsort::cpu {

template <class Key>
class CpuMergeLane final : public MergeLane, public StoredMerger {
 public:
  CpuMergeLane(const EngineShape& shape, std::uint64_t part_elements, ByteSpan memory);

  [[nodiscard]] ByteSpan input() override { return input_; }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override;

  // Null for records, which are never packed.
  [[nodiscard]] StoredMerger* stored_merger() override {
    return keys_are_records_ ? nullptr : this;
  }
  // Blocks are copied once more. With 60 runs of 1 GiB together, on Zen 5, merging took 11% less
  // processor time for u32 packed to a third, but 5% more for u64 packed to two thirds.
  [[nodiscard]] bool takes(std::size_t slices, std::uint64_t stored_bytes,
                           std::uint64_t bytes) const override {
    return slices * kLeastWindow <= windows_.size() && stored_bytes <= bytes / 2;
  }
  void merge_stored(std::span<const std::uint64_t> slice_counts, std::span<const StoredKeys> pieces,
                    std::uint64_t position, KeyForm form, PieceSink& sink) override;

 private:
  // Room for a packed group beside what is left of another.
  static constexpr std::size_t kLeastWindow = 2 * kPackGroupKeys;

  struct Slice {
    Key* keys;
    std::uint64_t count;
  };
  static Key last_of(const Slice& slice) { return slice.keys[slice.count - 1]; }

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
  // The windows of the slices that have keys, in proportion to these.
  std::vector<std::span<Key>> divide_windows(std::span<const std::uint64_t> slice_counts,
                                             std::size_t slices) const;
  // Moves cuts_ to the end of the stretch that the windows hold. Returns its number of keys.
  std::uint64_t cut_windows(const std::vector<Slice>& windows,
                            const std::vector<StoredSlice<Key>>& slices);
  // The `count` keys from begin_ to cuts_, in order: where they were, or in stretch_.
  std::span<Key> merge_stretch(const std::vector<Slice>& slices, std::uint64_t count);

  KeyMap<Key> map_;
  bool keys_are_records_;  // the elements are records, which come and leave in the form of the
                           // files
  ByteSpan input_;
  std::span<Key> stretch_;
  std::span<Key> scratch_;
  std::span<Key> windows_;            // in the second half of input_, which stored keys leave free
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
