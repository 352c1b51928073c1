// The codecs of inputs and outputs, and facts about them that need no libraries. io/codecs decodes
// and encodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/bytes.hpp"

namespace gsort {

// One row for each codec: the enumerator, the name, which is also that of the command, and the
// suffix. The options are made from these rows.
#define GSORT_CODECS(ROW)     \
  ROW(kGzip, "gzip", "gz")    \
  ROW(kBzip2, "bzip2", "bz2") \
  ROW(kXz, "xz", "xz")        \
  ROW(kZstd, "zstd", "zst")

#define GSORT_ENUMERATOR(codec, ...) codec,
enum class Codec : std::uint8_t { kNone, GSORT_CODECS(GSORT_ENUMERATOR) };
#undef GSORT_ENUMERATOR

inline constexpr Codec kAllCodecs[] = {
#define GSORT_ENUMERATOR(codec, ...) Codec::codec,
    GSORT_CODECS(GSORT_ENUMERATOR)
#undef GSORT_ENUMERATOR
};

struct CodecLevels {
  int least;
  int most;
  int usual;
};

struct CodecFacts {
  CodecLevels levels;
  // Memory of one compressor and one decompressor, by the manuals of the libraries, for frames of
  // at most 2 MiB.
  std::uint64_t (*compressor_bytes)(std::uint64_t level);
  std::uint64_t (*decompressor_bytes)(std::uint64_t level);
  // Whether no decoder needs more memory than its stream's first header says.
  bool header_says_all;
  std::string_view memory_word;      // the use of a decoder's memory: "dictionary"
  std::string_view command_options;  // with which the command reads every stream: " --long=31"
};

// kNone, then in the order of GSORT_CODECS. Elements are compressed in short stretches, many at
// once, so high levels, which look far back, gain little: bzip2 and xz use the level whose window
// such a stretch fills.
inline constexpr CodecFacts kCodecFacts[] = {
    {.levels = {0, 0, 0},
     .compressor_bytes = [](std::uint64_t) -> std::uint64_t { return 0; },
     .decompressor_bytes = [](std::uint64_t) -> std::uint64_t { return 0; },
     .header_says_all = false,
     .memory_word = "window",
     .command_options = ""},
    // gzip
    {.levels = {1, 9, 6},
     .compressor_bytes = [](std::uint64_t) { return 512 * kKiB; },
     .decompressor_bytes = [](std::uint64_t) { return 512 * kKiB; },
     .header_says_all = true,
     .memory_word = "window",
     .command_options = ""},
    // bzip2
    {.levels = {1, 9, 9},
     .compressor_bytes = [](std::uint64_t level) { return kMiB + level * 800 * kKiB; },
     .decompressor_bytes = [](std::uint64_t level) { return kMiB + level * 400 * kKiB; },
     .header_says_all = true,
     .memory_word = "block",
     .command_options = ""},
    // xz
    {.levels = {0, 9, 1},
     .compressor_bytes =
         [](std::uint64_t level) {
           constexpr std::uint64_t kMebibytes[] = {3, 9, 17, 32, 48, 94, 94, 186, 370, 674};
           return kMebibytes[level] * kMiB;
         },
     .decompressor_bytes =
         [](std::uint64_t level) {
           constexpr std::uint64_t kMebibytes[] = {1, 2, 3, 5, 5, 9, 9, 17, 33, 65};
           return kMebibytes[level] * kMiB + 512 * kKiB;
         },
     .header_says_all = false,
     .memory_word = "dictionary",
     .command_options = ""},
    // zstd; its window is no longer than the frame
    {.levels = {1, 19, 3},
     .compressor_bytes =
         [](std::uint64_t level) {
           return level <= 4 ? 4 * kMiB : level <= 12 ? 16 * kMiB : 90 * kMiB;
         },
     .decompressor_bytes = [](std::uint64_t) { return 4 * kMiB; },
     .header_says_all = false,
     .memory_word = "window",
     .command_options = " --long=31"},
};
static_assert(std::size(kCodecFacts) == 1 + std::size(kAllCodecs), "every codec has facts");

[[nodiscard]] constexpr const CodecFacts& facts_of(Codec codec) {
  return kCodecFacts[static_cast<std::size_t>(codec)];
}

[[nodiscard]] constexpr CodecLevels levels_of(Codec codec) {
  return facts_of(codec).levels;
}

inline constexpr std::string_view kCodecNames[] = {
#define GSORT_NAME(codec, name, suffix) name,
    "none", GSORT_CODECS(GSORT_NAME)
#undef GSORT_NAME
};

inline constexpr std::string_view kCodecSuffixes[] = {
#define GSORT_SUFFIX(codec, name, suffix) suffix,
    "", GSORT_CODECS(GSORT_SUFFIX)
#undef GSORT_SUFFIX
};

[[nodiscard]] constexpr std::string_view name_of(Codec codec) {
  return kCodecNames[static_cast<std::size_t>(codec)];
}

[[nodiscard]] constexpr std::string_view suffix_of(Codec codec) {
  return kCodecSuffixes[static_cast<std::size_t>(codec)];
}

}  // namespace gsort
