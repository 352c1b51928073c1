// SpilledRun: elements that this process has merged but cannot output yet. It is a run like others:
// packed, and stored in memory as far as there is room, else in temporary files.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/meter.hpp"
#include "cluster/cuts/cuts.hpp"
#include "element/element.hpp"
#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"

namespace gsort::cluster {

// Thread-safe, but for finish(). The store, the format and the meter outlive it.
class SpilledRun final : public PieceSink {
 public:
  // The run has at most `most_elements` elements.
  SpilledRun(io::RunStore& store, std::uint64_t most_elements, const ElementFormat& format,
             Meter& meter)
      : format_(format), meter_(meter), writer_(store.begin_run(most_elements)) {}

  // Takes raw elements, positions from 0 on. Throws: as io::RunWriter.
  void put(std::uint64_t position, ConstByteSpan elements) override;

  // After the last put(): the run; none if it has no elements. Throws: as io::RunWriter.
  [[nodiscard]] std::vector<io::Run> finish();

 private:
  const ElementFormat& format_;
  Meter& meter_;
  io::RunWriter writer_;
  std::atomic<bool> has_elements_{false};
};

// The cuts of that run at `borders` of the whole output, if `begin` elements of other processes
// come before it. Without a run, there are none.
[[nodiscard]] std::vector<Cuts> cuts_of_lone_run(std::span<const io::Run> run, std::uint64_t begin,
                                                 std::span<const std::uint64_t> borders);

}  // namespace gsort::cluster
