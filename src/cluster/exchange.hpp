// The exchange: every process merges its parts of the output from slices of the runs of all.
//
// A lane that is free takes the next part of this process: all others get a credit for it, and send
// their slices in frames, in any order, since the counts, which were sent before, say where in the
// lane's input each goes. A lane whose slices have arrived is merged while others fill. A process
// sends only slices that were asked for, so a receiver needs only the memory of its lanes, however
// slow it is; and a sender has few frames on the way to each receiver, so that a slow receiver does
// not delay the others.
//
// Parts are taken in rotated order (part_table.hpp). Frames are packed and unpacked, and parts
// merged, by threads (workers.hpp); the calling thread alone sends and receives, and waits for
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/meter.hpp"
#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"
#include "plan/outcome.hpp"

namespace gsort::cluster {

// The runs of a process: their fences, and a function that reads a range of one, as
// io::Run::read_range() does. Several threads call it.
struct RunsToExchange {
  std::vector<io::RunFences> fences;
  std::function<void(std::size_t run, std::uint64_t begin, std::uint64_t end, ByteSpan out,
                     ByteSpan scratch)>
      read;
};
// The runs outlive the result.
[[nodiscard]] RunsToExchange runs_to_exchange(std::span<const io::Run> runs);

struct ExchangeContext {
  RunsToExchange runs;
  const PartTable& parts;
  std::span<const Cuts> cuts;  // of these runs, at all borders of the table
  std::uint64_t element_bytes = 0;
  bool packs = true;  // keys of 4 or 8 bytes, on the way
  std::span<const std::unique_ptr<MergeLane>> lanes;
  std::vector<ByteSpan> scratch;  // one for each thread that loads; see exchange_scratch_bytes()
  std::size_t backlog = 64;       // frames that have arrived and wait to be unpacked, at most
  bool in_order = false;          // parts are merged in the order of their positions
  std::span<const std::uint64_t> order = {};  // of all runs, as RunOrder has it
  Meter* meter = nullptr;                     // may be null
};

// The scratch of a thread: a frame's elements, and what reading them takes.
[[nodiscard]] std::uint64_t exchange_scratch_bytes(std::uint64_t run_scratch_bytes,
                                                   std::uint64_t element_bytes);

// Together: merges the parts of this process into `sink`, at their positions in the whole output,
// and sends the slices that the others ask for. Returns when all processes have all slices. Adds
// the bytes and frames that it moved, and the time that it waited, to `own`. Throws: Error from
// reading runs or from the sink; Error(kCorrupt) for damaged messages; as Team. All threads have
// ended then.
void exchange(Team& team, const ExchangeContext& context, PieceSink& sink, Statistics& own);

}  // namespace gsort::cluster
