// The stages of a sort, as its meter and its reports name them, and the phases in which they run.
// Stages of one phase overlap; phases follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gsort {

enum class Stage : std::uint8_t {
  kRead,       // from the input
  kPartition,  // adding blocks to a chunk: the CPU engine deals them out to buckets
  kSort,
  kSpill,    // writing runs
  kLoad,     // reading runs
  kMerge,    // merging slices to a part
  kProve,    // fingerprint and order
  kWrite,    // to the output
  kCopyIn,   // over the bus to the device; only queueing the copies takes a thread's time
  kCopyOut,  // and back, including the device's work before it
  kSync,     // making the output durable, under its name
};
inline constexpr std::size_t kStages = static_cast<std::size_t>(Stage::kSync) + 1;

enum class Phase : std::uint8_t {
  kRead,        // the input is read; chunks are sorted, and spilled if there are several
  kInputMerge,  // -m: sorted inputs are merged as they are read; "merge" in reports, too
  kMerge,       // runs become longer runs, or the output
  kWrite,       // the only chunk, or what was counted, goes to the output
  kSync,
};
inline constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::kSync) + 1;

// "copy out", "merge": one or two words, for reports and as keys of their JSON.
[[nodiscard]] std::string_view name_of(Stage stage);
[[nodiscard]] std::string_view name_of(Phase phase);

}  // namespace gsort
