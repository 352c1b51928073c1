// What tells lies inside a sort: at one event of one seam, of which there are many in a sort, it
// changes what passes there. Which event, and how, follows from the lie's numbers alone, so that
// the same lie can be told again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace gsort::test {

// Where something passes from one part of gsort to another.
enum class Seam : std::uint8_t {
  kReader,        // blocks that the reader gives: their number and size
  kBlock,         // what the proof has seen of the input, before anybody else does
  kChunkLane,     // blocks that a chunk takes
  kChunkPiece,    // pieces that a chunk puts, into the output or a run
  kSlices,        // what a merge lane finds in its input
  kMergedPiece,   // pieces that a merge puts
  kArrays,        // arrays that an array lane has sorted
  kRun,           // what a run gives of itself
  kSplitBlock,    // what it gives to the splitter of parts
  kStored,        // packed keys between an engine and a run
  kRepeats,       // elements that are dropped because they repeat others
  kTier,          // a device's memory
  kRunFileRead,   // pread of a temporary file
  kRunFileWrite,  // pwrite there
  kWriter,        // pieces that the writer takes, when they have been proven
  kOutput,        // what it gives to the output, and where
  kText,          // lines that are made of elements
  kMember,        // compressed members
};
inline constexpr std::size_t kSeams = static_cast<std::size_t>(Seam::kMember) + 1;

[[nodiscard]] std::string_view name_of(Seam seam);

struct Lie {
  Seam seam = Seam::kReader;
  std::uint64_t event = 0;  // the number of the event at that seam, from 0
  std::uint64_t seed = 0;   // of what is changed there
};

// A lie in the telling: what the event's seam has of random numbers, and of the event before.
class Telling {
 public:
  Telling(std::uint64_t seed, std::size_t element_bytes, std::vector<std::byte> before)
      : random_(seed), element_bytes_(element_bytes), before_(std::move(before)) {}

  // A number below `bound`, or 0 if there is none.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  // What passed at the event before, as far as it is kept.
  [[nodiscard]] std::span<const std::byte> before() const { return before_; }

  // Drops, doubles, swaps, moves by one place, shifts by a byte, takes from the event before,
  // repeats a stretch, exchanges the parts of two elements, flips a bit: in place.
  void garble(std::span<std::byte> bytes);

 private:
  void garble_elements(std::span<std::byte> bytes, std::uint64_t kind);

  std::mt19937_64 random_;
  std::size_t element_bytes_;
  std::vector<std::byte> before_;
};

// Thread-safe, but for arming. There is one in the process, which seams ask.
class Liar {
 public:
  // Counts the events of all seams from now on, and tells no lie, or this one.
  void watch(std::size_t element_bytes);
  void arm(const Lie& lie, std::size_t element_bytes);
  void disarm();

  // An event at a seam, with the bytes that pass, which the next event may be given in place of its
  // own. What to change them with if the lie is to be told here.
  std::optional<Telling> event(Seam seam, std::span<const std::byte> bytes = {});

  [[nodiscard]] std::uint64_t count(Seam seam) const;
  [[nodiscard]] bool has_lied() const { return has_lied_; }
  [[nodiscard]] bool is_watching() const { return watching_; }

 private:
  std::atomic<bool> watching_{false};
  std::atomic<bool> has_lied_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::array<std::uint64_t, kSeams> counts_{};
  std::optional<Lie> lie_;
  std::size_t element_bytes_ = 1;
  std::vector<std::byte> before_;
};

[[nodiscard]] Liar& the_liar();

}  // namespace gsort::test
