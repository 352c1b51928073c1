// FormingLanes: the lanes in which runs are formed, with the state of each. One mutex guards the
// states. It is never held over I/O: no function here reads, sorts, writes, or calls a ChunkLane.
//
//         begin        side by side        no room        last block        sort()
//   kFree ─────▶ kBegun ─────────▶ kOpen ─────────▶ kShut ─────────▶ kFull ─────▶ kReady
//     ▲             │                └──── the input has ended ───────▲ │           │ its spiller
//     │             └──── filled by one thread, with helpers ─────────┘ │           ▼
//     └──────────────────────────────────────────────────── empty ──────┴────── kEmitting
//
//   kBegun, kFull, kEmitting ───▶ kLost: the device failed; another lane does the chunk again
//
// In kBegun, kFull and kEmitting, a lane and its chunk belong to the thread that took the step. In
// kOpen and kShut, all readers add blocks. In the other states, it belongs to nobody. Readers wait
// for a free or an open lane, spillers for a ready one, and nobody for anything else. If a thread
// fails, all waits end.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/device_error.hpp"
#include "base/failure.hpp"
#include "engine/engine.hpp"
#include "pipeline/form_runs.hpp"
#include "pipeline/input/metered_read.hpp"
#include "pipeline/proof/damage_hint.hpp"
#include "plan/plan.hpp"

namespace gsort {

enum class LaneState : std::uint8_t {
  kFree,
  kBegun,
  kOpen,
  kShut,
  kFull,
  kReady,
  kEmitting,
  kLost
};

// All other steps are errors.
inline constexpr auto kLaneSteps = [] {
  using enum LaneState;
  return std::to_array<std::pair<LaneState, LaneState>>({
      {kFree, kBegun},      // a reader needs a lane
      {kBegun, kOpen},      // chunks are filled side by side
      {kBegun, kFull},      // the chunk was filled by one thread with its helpers
      {kOpen, kShut},       // there is no room for another block, or the device failed over one
      {kOpen, kFull},       // the input has ended
      {kShut, kFull},       // the last block has ended
      {kFull, kFree},       // the chunk is empty
      {kFull, kReady},      // ChunkLane::sort() has returned
      {kReady, kEmitting},  // its spiller has time for it
      {kEmitting, kFree},   // its run, or the output, is whole
      {kBegun, kLost},      // the device failed, or had failed before
      {kFull, kLost},       // the device failed over a block, or in sort()
      {kEmitting, kLost},   // the device failed in emit()
  });
}();

struct FormingLane {
  struct Chunk : ReadPieces {
    std::optional<std::size_t> run = {};  // its number: runs are in the order of chunks
  };
  std::unique_ptr<ChunkLane> lane;
  std::optional<int> device;
  std::size_t spiller;  // fills one of its lanes at a time, and empties one
  std::uint64_t since;  // the last step, or the last block that began
  LaneState state = LaneState::kFree;
  Chunk chunk = {};                         // what was read for it
  std::optional<DeviceError> failure = {};  // why not all of that is in the lane
  std::uint64_t room = 0;                   // in kOpen, for elements of blocks that will begin
  std::uint64_t blocks = 0;                 // that have begun and not ended
};

// Thread-safe. Of several lanes, all functions choose the one that has waited longest.
class FormingLanes {
  using enum LaneState;

 public:
  FormingLanes(std::vector<std::unique_ptr<ChunkLane>> lanes, const Plan& plan) {
    for (auto& lane : lanes) {  // devices have lanes in turn
      lanes_.push_back(
          {std::move(lane), plan.device_of_lane(now_), now_ % plan.chunk.spillers, now_});
      ++now_;
    }
  }

  void step(FormingLane& lane, LaneState to) {
    const std::scoped_lock lock(mutex_);
    change(&lane, to);
  }

  // Begins a free lane if its spiller fills no other: 0 elements. Else begins a block of at most so
  // many elements in an open lane. Waits for either; null after a failure.
  std::pair<FormingLane*, std::uint64_t> begin(std::uint64_t most_elements) {
    std::unique_lock lock(mutex_);
    for (; !has_failed(); changed_.wait(lock)) {
      FormingLane* lane = change(oldest(kFree, {kBegun, kOpen}), kBegun);
      if (lane != nullptr) return {lane, 0};
      lane = oldest(kOpen);
      if (lane == nullptr) continue;
      const std::uint64_t elements = std::min(lane->room, most_elements);
      lane->room -= elements;
      lane->since = now_++;
      ++lane->blocks;
      if (lane->room == 0) change(lane, kShut);
      return {lane, elements};
    }
    return {};
  }
  // These were read for the chunk. Returns where in it they go.
  std::uint64_t place(FormingLane& lane, const ReadPieces& read) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t position = lane.chunk.input.count;
    lane.chunk.input += read.input;
    lane.chunk.from.insert(lane.chunk.from.end(), read.from.begin(), read.from.end());
    return position;
  }
  // The block was added, or the device failed. Returns true to the one thread that gets the full
  // lane.
  bool end_block(FormingLane& lane, const std::optional<DeviceError>& failure) {
    const std::scoped_lock lock(mutex_);
    if (failure && !lane.failure) lane.failure = failure;
    if (failure && lane.state == kOpen) change(&lane, kShut);
    return --lane.blocks == 0 && lane.state == kShut && change(&lane, kFull) != nullptr;
  }
  // When the input has ended: fills a lane that is still open; null if there is none.
  FormingLane* end_open() {
    const std::scoped_lock lock(mutex_);
    return change(oldest(kOpen), kFull);
  }

  // Takes a ready lane of the spiller to kEmitting, if it empties no other. May wait; null if there
  // is none, after a failure, and after close().
  FormingLane* emit(std::size_t spiller, bool waits) {
    std::unique_lock lock(mutex_);
    for (; !has_failed(); changed_.wait(lock)) {
      FormingLane* const lane = change(oldest(kReady, {kEmitting}, spiller), kEmitting);
      if (lane != nullptr || !waits || is_closed_) return lane;
    }
    return nullptr;
  }
  // The chunk has become this run.
  void free_with(FormingLane& lane, io::Run run) {
    const std::scoped_lock lock(mutex_);
    formed_.runs[*lane.chunk.run] = std::move(run);
    change(&lane, kFree);
  }

  // Keeps the chunk, if it has elements. Returns whether another lane is left.
  bool lose(FormingLane& lane) {
    const std::scoped_lock lock(mutex_);
    change(&lane, kLost);
    if (lane.chunk.input.count > 0) again_.push_back(std::move(lane.chunk));
    return std::ranges::any_of(lanes_, [](const FormingLane& it) { return it.state != kLost; });
  }

  // Requires: no other thread uses the lanes.
  std::vector<FormingLane::Chunk>& again() { return again_; }  // that lost lanes had
  FormedRuns& formed() { return formed_; }

  // No other lane will be sorted.
  void close() noexcept {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Keeps the exception that is being handled, if it is the first.
  void give_up() noexcept {
    failure_.capture();
    close();
  }
  [[nodiscard]] bool has_failed() const { return failure_.failed(); }
  void rethrow() { failure_.rethrow(); }

 private:
  // A lane whose spiller has no lane in one of the states `others`.
  FormingLane* oldest(LaneState state, std::initializer_list<LaneState> others = {},
                      std::optional<std::size_t> spiller = {}) {
    FormingLane* found = nullptr;
    for (FormingLane& lane : lanes_) {
      const bool is_other = std::ranges::any_of(lanes_, [&](const FormingLane& other) {
        return other.spiller == lane.spiller && std::ranges::count(others, other.state) > 0;
      });
      const bool is_one = !is_other && lane.spiller == spiller.value_or(lane.spiller);
      const bool is_older = found == nullptr || lane.since < found->since;
      if (lane.state == state && is_one && is_older) found = &lane;
    }
    return found;
  }

  // Null stays null. A full chunk with elements gets the number of its run.
  FormingLane* change(FormingLane* lane, LaneState to) {
    if (lane == nullptr) return nullptr;
    if (std::ranges::count(kLaneSteps, std::pair(lane->state, to)) == 0) {
      const auto step = fmt::format("from state {} to {}", int(lane->state), int(to));
      throw Error(ErrorKind::kCorrupt, "forming runs", "a lane went " + step).hint(kDefectHint);
    }
    if (to == kBegun) lane->chunk = {};
    if (to == kFull && lane->chunk.input.count > 0 && !lane->chunk.run) {
      lane->chunk.run = formed_.runs.size();
      formed_.runs.emplace_back();
      formed_.elements += lane->chunk.input.count;
    }
    lane->state = to;
    lane->since = now_++;
    changed_.notify_all();
    return lane;
  }

  std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::vector<FormingLane> lanes_;
  std::uint64_t now_ = 0;  // counts steps and blocks
  bool is_closed_ = false;
  FormedRuns formed_;
  std::vector<FormingLane::Chunk> again_;
  Failure failure_;
};

}  // namespace gsort
