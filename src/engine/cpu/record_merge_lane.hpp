// RecordMergeLane: merges the slices of a part by sorting entries of their records
// (record_entries.hpp). A part's entries fit the cache or nearly do, and a sort of them costs less
// than copying the records once.
#pragma once

#include <span>

#include "element/record.hpp"
#include "engine/cpu/record_entries.hpp"
#include "engine/engine.hpp"

namespace gsort::cpu {

class RecordMergeLane final : public MergeLane {
 public:
  RecordMergeLane(const EngineShape& shape, std::uint64_t part_elements, ByteSpan memory);

  [[nodiscard]] ByteSpan input() override { return input_; }

  // Stable: equal records come in the order of the slices, and keep their order within a slice.
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override;

 private:
  const RecordOrder order_;
  ByteSpan input_;
  std::span<RecordEntry> entries_;
  ByteSpan piece_;
};

}  // namespace gsort::cpu
