// DeferredParts: puts parts in order that are merged in rotated order (turns.hpp). Rotated order
// begins inside the share. The parts from there to the end are merged first; they are kept in a
// run, and put last.
//
//   merged   5 6 7 8 0 1 2 3 4
//   kept     5 6 7 8
//   put                0 1 2 3 4, then 5 6 7 8
#pragma once

#include <cstdint>
#include <span>

#include "base/meter.hpp"
#include "cluster/output/spilled_run.hpp"
#include "element/element.hpp"
#include "engine/passing_sink.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort::cluster {

// Thread-safe, but for put_rest(). Everything that is passed outlives it.
class DeferredParts final : public PassingSink {
 public:
  // Elements in the range `deferred` of the output are kept, those in front of it go to `next`.
  DeferredParts(io::RunStore& store, OutputRange deferred, const ElementFormat& format,
                Meter& meter, PieceSink& next)
      : PassingSink(next),
        deferred_(deferred),
        format_(format),
        meter_(meter),
        run_(store, deferred.elements(), format, meter) {}

  // Requires: either all of `elements` are in the range `deferred`, or none are.
  void put(std::uint64_t position, ConstByteSpan elements) override {
    if (position < deferred_.begin) return next_.put(position, elements);
    run_.put(position - deferred_.begin, elements);
  }

  // After the last put(): puts the kept elements to `next`. Uses one thread for each buffer in
  // `scratch`. Requires: each has exchange_scratch_bytes(). Throws: Error from reading and writing
  // the run; what `next` throws.
  void put_rest(std::span<const ByteSpan> scratch);

 private:
  const OutputRange deferred_;
  const ElementFormat& format_;
  Meter& meter_;
  SpilledRun run_;
};

}  // namespace gsort::cluster
