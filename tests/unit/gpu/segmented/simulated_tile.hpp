// A tile of shared memory on the CPU, whose rows are loaded, merged level by level, and stored by
// the same index arithmetic as on the device, all threads in step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/merge/gather_index.hpp"
#include "gpu/merge/thread_sort.hpp"
#include "gpu/segmented/tile_lists.hpp"

namespace gsort::gpu {

template <unsigned kRowWords>
class SimulatedTile {
 public:
  using Key = std::uint32_t;

  explicit SimulatedTile(std::vector<TileRow<std::uint64_t>> rows)
      : rows_(std::move(rows)), words_((rows_.size() + 1) * kRowWords, 0x5a5a5a5aU) {}

  void load(const std::vector<Key>& input, unsigned list_words, unsigned array_keys) {
    for (unsigned row = 0; row < rows_.size(); ++row) {
      for (unsigned slot = 0; slot < kRowWords; ++slot) {
        const unsigned key = key_of_slot(slot, list_words, array_keys);
        word(row, slot) = key < rows_[row].count ? input.at(rows_[row].source + key) : ~Key{0};
      }
    }
  }

  template <unsigned kListWords>
  void sort_rows() {
    for (unsigned row = 0; row < rows_.size(); ++row) {
      Key keys[kRowWords];
      for (unsigned j = 0; j < kRowWords; ++j) keys[j] = word(row, j);
      thread_sort_lists<kListWords>(keys);
      for (unsigned j = 0; j < kRowWords; ++j) word(row, j) = keys[j];
    }
  }

  // One level; returns false, having done nothing, if no list has a partner.
  bool join(unsigned joined_rows) {
    std::vector<Key> laid_out = words_;
    bool any = false;
    for (unsigned row = 0; row < rows_.size(); ++row) {
      const LevelLists lists = level_lists(rows_[row], joined_rows);
      if (lists.rows == 0) continue;
      any = true;
      if (!lists.in_second) continue;
      const unsigned second = row - rows_[row].list_row + lists.first_row + joined_rows;
      const unsigned mirrored = 2 * second + (lists.rows - joined_rows) - 1 - row;
      for (unsigned j = 0; j < kRowWords; ++j) {
        laid_out[mirrored * kRowWords + kRowWords - 1 - j] = word(row, j);
      }
    }
    std::vector<Key> merged = words_;
    for (unsigned row = 0; row < rows_.size(); ++row) {
      const LevelLists lists = level_lists(rows_[row], joined_rows);
      if (lists.rows != 0) merge_row(laid_out, row, lists, joined_rows, merged);
    }
    words_ = merged;
    return any;
  }

  // Writes each key at its place; returns false if a place was written before.
  bool store(std::vector<Key>& output, std::vector<bool>& written, unsigned list_words,
             unsigned array_keys) const {
    bool once = true;
    for (unsigned row = 0; row < rows_.size(); ++row) {
      for (unsigned slot = 0; slot < kRowWords; ++slot) {
        const unsigned key = key_of_slot(slot, list_words, array_keys);
        if (key >= rows_[row].count) continue;
        const std::uint64_t place = rows_[row].source + key;
        once = once && !written.at(place);
        written.at(place) = true;
        output.at(place) = words_[row * kRowWords + slot];
      }
    }
    return once;
  }

 private:
  struct Words {
    const Key* words;
    [[nodiscard]] unsigned place_of(unsigned row) const { return row * kRowWords; }
    [[nodiscard]] Key read(unsigned place, unsigned residue) const {
      return words[place + residue];
    }
  };

  Key& word(unsigned row, unsigned slot) { return words_[row * kRowWords + slot]; }

  void merge_row(const std::vector<Key>& laid_out, unsigned row, const LevelLists& lists,
                 unsigned joined_rows, std::vector<Key>& merged) const {
    const unsigned first_row = row - rows_[row].list_row + lists.first_row;
    const unsigned region_row = row - first_row;
    const unsigned a_words = joined_rows * kRowWords;
    const Words words{laid_out.data() + std::size_t{first_row} * kRowWords};
    const unsigned a_begin = row_co_rank<kRowWords>(region_row, lists.rows, a_words, words);
    const unsigned a_end = region_row + 1 == lists.rows
                               ? a_words
                               : row_co_rank<kRowWords>(region_row + 1, lists.rows, a_words, words);
    const GatherRows gather = gather_rows<kRowWords>(region_row, lists.rows, a_begin, a_end);
    Key keys[kRowWords];
    for (unsigned j = 0; j < kRowWords; ++j) {
      keys[j] = words.read(words.place_of(gather.row_of(j)), j);
    }
    thread_sort_bitonic(keys);
    std::copy(keys, keys + kRowWords, merged.begin() + std::ptrdiff_t{row} * kRowWords);
  }

  std::vector<TileRow<std::uint64_t>> rows_;
  std::vector<Key> words_;
};

}  // namespace gsort::gpu
