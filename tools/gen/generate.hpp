// Test inputs as a pure function of (spec, position): any thread can make any stretch in any order,
// so all cores make files of any size, and a test can ask for the key at a position.
//
// Read next: worst_merge.hpp, the only distribution that needs more than a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "element/key.hpp"

namespace gsort {

enum class Distribution : std::uint8_t {
  kUniform,       // every bit pattern equally likely: for floats NaNs and infinities too
  kSorted,        // ascending over the whole range of the type
  kReversed,      // descending over the whole range
  kNearlySorted,  // sorted, but one in a hundred stands anywhere
  kEqual,         // one key
  kFewDistinct,   // sixteen keys, equally often
  kZipf,          // key number r about 1/r times as often as the first, for up to 2^24 keys
  kSawtooth,      // ascending ramps of at most 2^16 keys
  kOrganPipe,     // ascending to the middle, then descending
  kAllMaximum,    // the largest key of the type, which sorts pad with
  kWorstMerge,    // sorted by the inverse of a merge sort whose merges meet the most bank conflicts
  // Few equal cells of the range have most keys. Keys of 4 bytes and less have the order of floats,
  // longer ones that of doubles.
  kNormal,          // floating-point numbers around 0, the sums of twelve uniform ones
  kBothSigns,       // uniform floating-point numbers in [-1, 1)
  kClusteredTimes,  // bursts of a second in ten years, as nanoseconds; one in a thousand anywhere
  kRandomWidth,     // random bits, of which a random number is kept
};

inline constexpr Distribution kAllDistributions[] = {
    Distribution::kUniform,      Distribution::kSorted,         Distribution::kReversed,
    Distribution::kNearlySorted, Distribution::kEqual,          Distribution::kFewDistinct,
    Distribution::kZipf,         Distribution::kSawtooth,       Distribution::kOrganPipe,
    Distribution::kAllMaximum,   Distribution::kWorstMerge,     Distribution::kNormal,
    Distribution::kBothSigns,    Distribution::kClusteredTimes, Distribution::kRandomWidth};

[[nodiscard]] std::string_view name_of(Distribution distribution);  // "few-distinct"
[[nodiscard]] std::optional<Distribution> distribution_named(std::string_view name);

struct GenSpec {
  KeyFormat format;  // ascending and descending are the same here
  Distribution distribution = Distribution::kUniform;
  std::uint64_t seed = 1;
  std::uint64_t count = 0;  // elements of the whole input
};

// Writes the raw keys of elements [position, position + out.size() / key bytes) to `out`.
// Requires: out.size() is a multiple of the key's size; the elements lie within the count.
// Thread-safe. The same on every machine and for any cut into stretches.
void generate(const GenSpec& spec, std::uint64_t position, std::span<std::byte> out);

}  // namespace gsort
