// The liar: at one event of one seam of a sort it changes the data that passes. Only the numbers in
// the Lie decide the event and the change, so that a test can repeat a lie.
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

// A lie may use memory that was given back, and another thread writes there.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kMayRace = false;
#else
inline constexpr bool kMayRace = true;
#endif

// The places where data passes from one part of gsort to another. Each passing is an event.
enum class Seam : std::uint8_t {
  kReader,        // blocks that the reader gives: their number and size
  kArray,         // keys that are copied from an array in memory
  kAlike,         // equal floats that get the same bits
  kBlock,         // blocks of the input, right after the proof has seen them
  kChunkLane,     // blocks that a chunk takes
  kChunkPiece,    // pieces that a chunk puts, into the output or a run
  kSlices,        // the input of a merge lane
  kMergedPiece,   // pieces that a merge puts
  kArrays,        // arrays that an array lane has sorted
  kRun,           // ranges that are read from a run
  kSplitBlock,    // blocks that the splitter of parts reads from it
  kStored,        // packed keys between an engine and a run
  kRepeats,       // elements that are dropped because they repeat others
  kCounts,        // keys with their counts
  kIndexes,       // positions that are taken from elements
  kNumbers,       // elements that a selection has given their positions
  kMembers,       // the keys that another input has
  kTier,          // a device's memory
  kRunFileRead,   // pread of a temporary file
  kRunFileWrite,  // pwrite there
  kWriter,        // pieces that the writer takes, already proven
  kOutput,        // bytes that it gives to the output, and their offset
  kText,          // lines that are made of elements
  kMember,        // compressed members
};
inline constexpr std::size_t kSeams = static_cast<std::size_t>(Seam::kMember) + 1;

[[nodiscard]] std::string_view name_of(Seam seam);

struct Lie {
  Seam seam = Seam::kReader;
  std::uint64_t event = 0;  // its number at that seam, from 0
  std::uint64_t seed = 0;   // decides what changes
};

// A lie that is told now: the seam gets random numbers, and the bytes of the previous event.
class Telling {
 public:
  Telling(std::uint64_t seed, std::size_t element_bytes, std::vector<std::byte> before)
      : random_(seed), element_bytes_(element_bytes), before_(std::move(before)) {}

  // A number below `bound`, or 0 if there is none.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  // The bytes of the previous event, at most 64 KiB.
  [[nodiscard]] std::span<const std::byte> before() const { return before_; }

  // Damages `bytes` in place: elements are dropped, doubled, swapped or moved by one place, bytes
  // are shifted, a stretch is repeated or comes from the previous event, a bit flips, and so on.
  void garble(std::span<std::byte> bytes);

 private:
  void garble_elements(std::span<std::byte> bytes, std::uint64_t kind);

  std::mt19937_64 random_;
  std::size_t element_bytes_;
  std::vector<std::byte> before_;
};

// Thread-safe, except watch(), arm() and disarm(). The process has one, the_liar().
class Liar {
 public:
  // Counts the events of all seams from now on; tells no lie.
  void watch(std::size_t element_bytes);
  // The same, but tells this lie.
  void arm(const Lie& lie, std::size_t element_bytes);
  void disarm();

  // A seam calls this at each event, with the bytes that pass: the lie may replace those of the
  // next event by them. Returns a Telling if the lie must be told here.
  std::optional<Telling> event(Seam seam, std::span<const std::byte> bytes = {});

  [[nodiscard]] std::uint64_t count(Seam seam) const;
  [[nodiscard]] bool has_lied() const { return has_lied_; }
  [[nodiscard]] bool is_watching() const { return watching_; }

 private:
  std::atomic<bool> watching_{false};
  std::atomic<bool> has_lied_{false};
  mutable std::mutex mutex_;  // guards the members below
  std::array<std::uint64_t, kSeams> counts_{};
  std::optional<Lie> lie_;
  std::size_t element_bytes_ = 1;
  std::vector<std::byte> before_;
};

[[nodiscard]] Liar& the_liar();

}  // namespace gsort::test
