// FormingLanes: the lanes that form runs, and the state of each. One mutex guards the states. No
// thread holds it over I/O: no function here reads, sorts, writes, or calls a ChunkLane.
//
//         begin        side by side        no room        last block        sort()
//   kFree ─────▶ kBegun ─────────▶ kOpen ─────────▶ kShut ─────────▶ kFull ─────▶ kReady
//     ▲             │                └──── the input has ended ───────▲ │           │ its spiller
//     │             └──── filled by one thread, with helpers ─────────┘ │           ▼
//     └──────────────────────────────────────────────────── empty ──────┴────── kEmitting
//
//   kBegun, kFull, kEmitting ───▶ kLost: the device failed; another lane does the chunk again
//
// In kBegun, kFull and kEmitting, the thread that took the step owns the lane and its chunk. In
// kOpen and kShut, readers add their blocks. In the other states, no thread owns the lane. Readers
// wait for a free or an open lane, spillers for a ready one; there are no other waits. If a thread
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
      {kOpen, kShut},       // there is no room for another block, or the device failed in one
      {kOpen, kFull},       // the input has ended
      {kShut, kFull},       // the last block has ended
      {kFull, kFree},       // the chunk is empty
      {kFull, kReady},      // ChunkLane::sort() has returned
      {kReady, kEmitting},  // its spiller takes the lane
      {kEmitting, kFree},   // its run, or the output, is complete
      {kBegun, kLost},      // the device failed, or had failed before
      {kFull, kLost},       // the device failed in a block, or in sort()
      {kEmitting, kLost},   // the device failed in emit()
  });
}();

struct FormingLane {
  struct Chunk : ReadPieces {
    std::optional<std::size_t> run = {};  // its run's number, in the order of chunks
  };
  std::unique_ptr<ChunkLane> lane;
  std::optional<int> device;
  std::size_t spiller;  // one of its lanes is filled at a time, and one is emptied
  std::uint64_t since;  // when the last step was taken, or the last block began
  LaneState state = LaneState::kFree;
  Chunk chunk = {};                         // what was read for it
  std::optional<DeviceError> failure = {};  // the reason why the lane does not have all of it
  std::uint64_t room = 0;                   // in kOpen: elements that further blocks may have
  std::uint64_t blocks = 0;                 // begun and not ended
};

// Thread-safe. All functions choose the lane that has waited longest.
class FormingLanes {
  using enum LaneState;

 public:
  FormingLanes(std::vector<std::unique_ptr<ChunkLane>> lanes, const Plan& plan)
      : lanes_(lanes.size()) {
    for (FormingLane& lane : lanes_) {  // lanes go to devices in turn
      lane.lane = std::move(lanes[now_]);
      lane.device = plan.device_of_lane(now_);
      lane.spiller = now_ % plan.chunk.spillers;
      lane.since = now_++;
    }
  }

  void step(FormingLane& lane, LaneState to) {
    const std::scoped_lock lock(mutex_);
    change(&lane, to);
  }

  // Begins a free lane whose spiller has none in kBegun or kOpen: 0 elements. Else begins a block
  // of at most `most_elements` in an open lane. Waits for either; null after a failure.
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
  // Adds elements that were read for the chunk. Returns their position in the chunk.
  std::uint64_t place(FormingLane& lane, const ReadPieces& read) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t position = lane.chunk.input.count;
    lane.chunk.input += read.input;
    lane.chunk.from.insert(lane.chunk.from.end(), read.from.begin(), read.from.end());
    return position;
  }
  // Ends a block that was added, or in which the device failed. Returns true to the one thread that
  // then owns the full lane.
  bool end_block(FormingLane& lane, const std::optional<DeviceError>& failure) {
    const std::scoped_lock lock(mutex_);
    if (failure && !lane.failure) lane.failure = failure;
    if (failure && lane.state == kOpen) change(&lane, kShut);
    return --lane.blocks == 0 && lane.state == kShut && change(&lane, kFull) != nullptr;
  }
  // When the input has ended: takes an open lane to kFull; null if there is none.
  FormingLane* end_open() {
    const std::scoped_lock lock(mutex_);
    return change(oldest(kOpen), kFull);
  }

  // Takes a ready lane of the spiller to kEmitting, if none is there. May wait for one until
  // close(). Returns null if there is none, and after a failure.
  FormingLane* emit(std::size_t spiller, bool waits) {
    std::unique_lock lock(mutex_);
    for (; !has_failed(); changed_.wait(lock)) {
      FormingLane* const lane = change(oldest(kReady, {kEmitting}, spiller), kEmitting);
      if (lane != nullptr || !waits || is_closed_) return lane;
    }
    return nullptr;
  }
  // Keeps the run that the chunk has become.
  void free_with(FormingLane& lane, io::Run run) {
    const std::scoped_lock lock(mutex_);
    formed_.runs[*lane.chunk.run] = std::move(run);
    change(&lane, kFree);
  }

  // Keeps the chunk for another lane, if it has elements. Returns whether a lane is left.
  bool lose(FormingLane& lane) {
    const std::scoped_lock lock(mutex_);
    change(&lane, kLost);
    if (lane.chunk.input.count > 0) again_.push_back(std::move(lane.chunk));
    return std::ranges::any_of(lanes_, [](const FormingLane& it) { return it.state != kLost; });
  }

  // Requires: no other thread uses the lanes.
  std::vector<FormingLane::Chunk>& again() { return again_; }  // chunks of lost lanes
  FormedRuns& formed() { return formed_; }

  // Call it when no more lanes will be sorted.
  void close() noexcept {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Keeps the current exception, if it is the first.
  void give_up() noexcept {
    failure_.capture();
    close();
  }
  [[nodiscard]] bool has_failed() const { return failure_.failed(); }
  void rethrow() { failure_.rethrow(); }

 private:
  // Returns a lane in `state` whose spiller has no lane in one of the states `others`.
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

  // Leaves null alone. Gives a full chunk with elements the number of its run.
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

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<FormingLane> lanes_;
  std::uint64_t now_ = 0;  // counts steps and blocks
  bool is_closed_ = false;
  FormedRuns formed_;
  std::vector<FormingLane::Chunk> again_;
  Failure failure_;
};

}  // namespace gsort
