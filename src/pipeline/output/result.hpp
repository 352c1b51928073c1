// Result: makes the output's elements from the merged elements of one job, in all sorts.
//
//   -u            UniqueSink    one of each key
//   --top         LimitSink     the first ones
//                 ProvingSink   the proof sees what comes out
//   --argsort     IndexSink     only positions; --shuffle: only elements
//   --count       CountSink     in place of all: each key with its count, proven there
//
// An OffsetSink comes first if the elements are a range of the whole result. The bytes go into the
// target: files, a file that processes share, or a run. A sink that drops elements holds pieces
// back until their turn; Job::needs_order(), known earlier, decides how parts are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pipeline/output/count_sink.hpp"
#include "pipeline/output/index_sink.hpp"
#include "pipeline/output/limit_sink.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The elements that are put; by default, all.
struct ResultRange {
  std::uint64_t begin = 0;       // position of the first one
  std::uint64_t place = 0;       // its position in the output
  ConstByteSpan before = {};     // the element before it; empty if there is none
  std::size_t index_bytes = 0;   // of a position that comes out; 0: the job's number
  bool is_proven_later = false;  // by another Result, which takes the elements of this one
};

class Result {
 public:
  // `proof` and `target` outlive it.
  Result(const Job& job, Proof& proof, PieceSink& target, const ResultRange& range = {});

  // Takes the elements. Thread-safe.
  [[nodiscard]] PieceSink& sink() { return *first_; }

  // Call it when all elements have been put: puts those that are held back. Throws: as the sink.
  void end() {
    if (counted_) counted_->end();
  }

 private:
  PieceSink* first_;
  std::optional<IndexSink> positions_;
  std::optional<ProvingSink> proven_;
  std::optional<LimitSink> limited_;
  std::optional<UniqueSink> unique_;
  std::optional<CountSink> counted_;
  std::optional<OffsetSink> placed_;
};

}  // namespace gsort
