// Lanes with chunks in them, or on the way there (form_runs.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "element/fingerprint.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// A lane with a chunk in it.
struct FilledLane {
  ChunkLane* lane = nullptr;
  Fingerprint input;    // of its elements
  std::size_t run = 0;  // the number of the run that it becomes: runs are in the order of chunks
  std::vector<io::InputBlock> from = {};  // where its elements were read
};

// Elements at the start of a block that were read at one place or at several.
struct ReadPieces {
  std::size_t bytes = 0;
  Fingerprint input;
  std::vector<io::InputBlock> from;

  void add(const io::InputBlock& piece, const Fingerprint& elements) {
    bytes += piece.bytes;
    input += elements;
    if (!from.empty() && from.back().position_bytes + from.back().bytes == piece.position_bytes) {
      from.back().bytes += piece.bytes;
    } else {
      from.push_back(piece);
    }
  }
};

// A chunk that several threads fill at the same time, block by block in any order. Thread-safe.
class SharedFill {
 public:
  SharedFill(ChunkLane& lane, std::uint64_t room) : left_(room), filled_{&lane, {}} {}

  [[nodiscard]] ChunkLane& lane() { return *filled_.lane; }
  [[nodiscard]] bool is_full() const {
    const std::scoped_lock lock(mutex_);
    return left_ == 0;
  }

  // A block of at most so many elements begins. Returns how many there is room for: no block begins
  // if there is none.
  [[nodiscard]] std::uint64_t begin_block(std::uint64_t most) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t elements = std::min(left_, most);
    left_ -= elements;
    if (elements > 0) ++blocks_under_way_;
    return elements;
  }
  // They have been read, or fewer. Returns where in the chunk they go.
  [[nodiscard]] std::uint64_t place(const ReadPieces& read) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t position = filled_.input.count;
    filled_.input += read.input;
    filled_.from.insert(filled_.from.end(), read.from.begin(), read.from.end());
    return position;
  }
  // The lane's device failed over a block that is under way: no other block begins.
  void fail(const DeviceError& failure) {
    const std::scoped_lock lock(mutex_);
    left_ = 0;
    if (!failure_) failure_ = failure;
  }
  // They have been added, or that failed. Returns whether nothing will be added any more because
  // there is no room, to one thread alone.
  [[nodiscard]] bool end_block() {
    const std::scoped_lock lock(mutex_);
    return --blocks_under_way_ == 0 && left_ == 0;
  }

  // When nothing will be added any more: what was read for the chunk, and why not all of it is in
  // the lane.
  [[nodiscard]] FilledLane& filled() { return filled_; }
  [[nodiscard]] const std::optional<DeviceError>& failure() const { return failure_; }

 private:
  mutable std::mutex mutex_;
  std::uint64_t left_;
  std::uint64_t blocks_under_way_ = 0;
  FilledLane filled_;
  std::optional<DeviceError> failure_;
};

// A block that a thread is to add to one of these.
struct BlockOfFill {
  std::shared_ptr<SharedFill> fill;
  std::uint64_t elements = 0;
};

// Under the eyes of the meter, which may be null.
[[nodiscard]] ByteSpan acquire_block(ChunkLane& lane, Meter* meter);
void put_block(ChunkLane& lane, Meter* meter, ByteSpan block, std::size_t bytes,
               std::uint64_t position);

// Fills the block from a cached input, with what lies before `end`. Keys are not told apart, so
// they need not follow each other there.
[[nodiscard]] ReadPieces read_in_pieces(io::Reader& reader, Proof& proof, Meter* meter,
                                        ByteSpan block, std::uint64_t end);

// Fills the lane with what was read before. Throws: Error when that is not there any more.
void fill_again(const FilledLane& filled, const io::Reader& reader, const Proof& proof,
                Meter* meter);

}  // namespace gsort
