// The manifest of a sort that can be resumed: what it sorts, and which of its runs are complete,
// byte by byte. It is replaced as a whole, by renaming, whenever a run has become complete, so it
// is never half written. All numbers are little-endian.
//
//   at  bytes  field
//    0      4  magic: 'G' 'S' 'R' 'M' (0x47 0x53 0x52 0x4d)
//    4      2  version: 2; 4 with a place for each run; 5 with a share. Refused: 1, with other
//              fingerprints; 3, with a share, and others of elements of one and two bytes
//    6      2  flags: bit 0: gsort made the folder, and removes it at the end; bit 1: the output is
//              written, and put in its place next, which may be the place of an input; bit 2, in
//              version 5: the inputs are those of this share alone
//    8      8  bytes of the manifest, header and checksum included
//   16      8  store: as in the blocks of the runs (run_format.hpp)
//   24      8  next run: the number of the run in the making, more than that of any complete one
//   32      8  the most elements of a block
//   40      4  bytes of an element
//   44      4  bytes of the job's description
//   48      4  inputs
//   52      4  runs
//   56      8  sample: XXH3-64 of elements drawn evenly from the inputs; 0 where they cannot be
//   64         the job's description: text of this length
//              each input, in order:
//                8  bytes
//                8  time of its last change, in nanoseconds since 1970, signed
//                4  bytes of the path
//                   the path
//              each run, in the order of the input's elements that they hold, 56 bytes; in version
//              4, the runs of one process of several, 64 bytes:
//                8  number
//                8  elements
//               16  fingerprint of these elements as they were in the input: both sums
//                   (element/fingerprint.hpp); zero under --no-verify
//                8  index: its offset in the file of the runs, a multiple of 4096
//                8  blocks
//                8  checksum of the index: XXH3-64
//                8  in version 4: the number of its first element, of all that the inputs hold
//              in version 5, the share of a sort that the runs are all of; they stay:
//                4  its number, from 0
//                4  shares
//                8  the number of its first element, of all that the inputs hold
//                4  version of a NumPy array's format; 0: the elements are not of such an array
//                4  bytes of the dtype
//                   the dtype, as the array's header has it
//    end-8  8  checksum: XXH3-64 of all bytes before it
//
// The index of a run lies in the file of the runs, behind its blocks; each block has 32 bytes
// there, in the order of positions:
//
//    0      8  first key, as in the block's header
//    8      8  position, as in the block's header
//   16      8  offset of the block in the file of the runs, a multiple of 64
//   24      4  bytes of the block, padding included
//   28      4  zero
//
// Example: gsort made the folder; the job is "u32", which stands for its longer description; the
// one input, "in", has 16352 bytes and was changed a second after 1970 began; its 4088 elements are
// run 1, of two blocks, with the fingerprint 5, 6; the index begins at 20480, with the checksum 7:
//   00  47 53 52 4d  02 00  01 00  99 00 00 00 00 00 00 00
//   10  88 77 66 55 44 33 22 11  02 00 00 00 00 00 00 00
//   20  fc 07 00 00 00 00 00 00  04 00 00 00  03 00 00 00
//   30  01 00 00 00  01 00 00 00  08 00 00 00 00 00 00 00
//   40  75 33 32  e0 3f 00 00 00 00 00 00  00 ca 9a 3b 00
//   50  00 00 00  02 00 00 00  69 6e  01 00 00 00 00 00 00
//   60  00  f8 0f 00 00 00 00 00 00  05 00 00 00 00 00 00
//   70  00  06 00 00 00 00 00 00 00  00 50 00 00 00 00 00
//   80  00  02 00 00 00 00 00 00 00  07 00 00 00 00 00 00
//   90  00  33 79 fd d7 f6 17 98 92
//
// A reader uses no part of a manifest or an index before the checksum has matched, and checks that
// every number is possible: any user may have written them. Unknown versions and flags are errors.
// If the header does not explain the size of the file, only the header is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "element/fingerprint.hpp"
#include "io/runs/block_entry.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

inline constexpr std::uint16_t kManifestVersion = 2;
inline constexpr std::uint16_t kManifestVersionWithPlaces = 4;
inline constexpr std::uint16_t kManifestVersionOfShare = 5;
inline constexpr std::uint64_t kIndexEntryBytes = 32;

struct ManifestInput {
  std::string path;  // as given; for messages
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;

  friend bool operator==(const ManifestInput&, const ManifestInput&) = default;
};

// The place of a run's index.
struct IndexPlace {
  std::uint64_t offset = 0;
  std::uint64_t blocks = 0;
  std::uint64_t checksum = 0;

  friend bool operator==(const IndexPlace&, const IndexPlace&) = default;
};

struct ManifestRun {
  std::uint64_t number = 0;
  Fingerprint input;  // of its elements, and their count
  IndexPlace index;
  std::uint64_t first_element = 0;  // in a manifest with places

  friend bool operator==(const ManifestRun&, const ManifestRun&) = default;
};

// The share whose runs these are, if other processes make the output from the runs of all shares.
struct ManifestShare {
  std::uint32_t number = 0;
  std::uint32_t shares = 1;
  bool has_own_inputs = false;
  std::uint64_t first_element = 0;  // 0 where it has its own inputs
  std::uint32_t dtype_version = 0;
  std::string dtype;

  friend bool operator==(const ManifestShare&, const ManifestShare&) = default;
};

struct Manifest {
  bool folder_is_made = false;
  bool is_committing = false;
  std::uint64_t store = 0;
  std::uint64_t next_run = 0;
  std::uint64_t block_elements = 0;
  std::uint32_t element_bytes = 0;
  std::string job;
  std::uint64_t sample = 0;
  std::vector<ManifestInput> inputs;
  std::vector<ManifestRun> runs;
  std::optional<ManifestShare> share;
  bool has_places = false;  // each run says which elements it holds; there is no share then

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

inline constexpr std::uint64_t kManifestHeaderBytes = 64;
inline constexpr std::uint64_t kMostManifestBytes = 256 * kMiB;

[[nodiscard]] std::vector<std::byte> encode_manifest(const Manifest& manifest);
[[nodiscard]] std::uint64_t encoded_bytes(const Manifest& manifest);

// Whether a file of this size that begins with `header` can be a manifest, so that the rest is
// worth reading. Returns the reason why it cannot be one, as parse_manifest() does.
[[nodiscard]] std::string_view problem_of_header(ConstByteSpan header, std::uint64_t file_bytes);

// Decodes `bytes` into `manifest`. Returns the reason why they are not a manifest, for a message,
// or an empty text. Never reads outside `bytes`.
[[nodiscard]] std::string_view parse_manifest(ConstByteSpan bytes, Manifest& manifest);

// The bytes of an index, for the blocks of a run in the order of their positions.
[[nodiscard]] std::vector<std::byte> encode_index(std::span<const BlockEntry> blocks);

[[nodiscard]] std::uint64_t checksum_of_index(ConstByteSpan index);

// Bounds of the blocks of an index.
struct IndexBounds {
  std::uint64_t end_bytes = 0;          // of the file of the runs
  std::uint64_t most_stored_bytes = 0;  // of a block, padding included
};

// Appends the blocks of an index, or of the next piece of one, to `blocks`. Returns why it is not
// an index, or an empty text. Use neither before the checksum of the whole index has matched.
[[nodiscard]] std::string_view parse_index(ConstByteSpan index, const IndexBounds& bounds,
                                           std::vector<BlockEntry>& blocks);

}  // namespace gsort::io
