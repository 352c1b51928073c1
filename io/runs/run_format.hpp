// The format of a run on disk, byte by byte. A run is a sorted sequence of elements, keys or
// records, cut into blocks. Blocks are written many at once, neighbours of a run one after the
// other. Each such write begins at a multiple of 4096 of a temporary file, a block at a multiple of
// 64. Each block carries everything that identifies it as the wanted block. All numbers are
// little-endian.
//
//   at  bytes  field
//    0      4  magic: 'G' 'S' 'R' 'B' (0x47 0x53 0x52 0x42)
//    4      2  version: 2
//    6      1  encoding of the payload: 0 plain, 1 packed
//    7      1  bytes of a key: 1, 2, 4, 8 or 16; 0 when the elements are records
//    8      8  store: a random number, one for each RunStore, so that a block that an earlier sort
//              left on the disk is never taken for one of this sort
//   16      8  run: the number of the run in its store, from 0
//   24      8  position: the number of the block's first element in its run, from 0
//   32      8  first key, zero-extended to 64 bits; the upper half of a key of 16 bytes; the prefix
//              of a record (element/record.hpp)
//   40      4  count: elements in the block, at least 1
//   44      4  payload bytes; for plain blocks count * bytes of an element
//   48      4  bytes of a record; 0 when the elements are keys
//   52      4  zero
//   56      8  checksum: XXH3-64 of the payload, seeded with the XXH3-64 (seed 0) of bytes 0 to 55
//   64         payload: ordered keys (element/key.hpp), ascending, or records in order, with the
//              bytes of the input. Plain: as they are. Packed: as element/packed_keys.hpp says;
//              keys of 4 bytes and more, and only where that saves at least a tenth, or anything
//              (--pack-runs=on)
//              zeros up to the next multiple of 64; up to the next multiple of 4096 at the end of a
//              write. They are neither covered nor read
//
// Example: the keys 3 5 5 of four bytes as the second block of run 7, behind 1000 keys, of store
// 0x1122334455667788 (the last eight bytes of the header are the checksum):
//   00  47 53 52 42  02 00  00  04  88 77 66 55 44 33 22 11
//   10  07 00 00 00 00 00 00 00  e8 03 00 00 00 00 00 00
//   20  03 00 00 00 00 00 00 00  03 00 00 00  0c 00 00 00
//   30  00 00 00 00 00 00 00 00  xx xx xx xx xx xx xx xx
//   40  03 00 00 00 05 00 00 00  05 00 00 00  and 52 zeros
//
// A reader knows store, run, position, count and first key of every block that it asks for. It
// compares them and the checksum of the payload, which must lie within the bytes it has read,
// before it uses a single byte. Unknown versions and encodings are errors.
#pragma once

#include <cstdint>
#include <string_view>

#include "element/packing.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

inline constexpr std::size_t kBlockHeaderBytes = 64;
inline constexpr std::size_t kBlockAlignment = 64;
inline constexpr std::uint16_t kRunFormatVersion = 2;

enum class Encoding : std::uint8_t { kPlain = 0, kPacked = 1 };

// The fields of a header that say which block this is.
struct BlockIdentity {
  std::uint64_t store = 0;
  std::uint64_t run = 0;
  std::uint64_t position = 0;
  std::uint64_t first_key = 0;
  std::uint32_t count = 0;
  std::uint32_t element_bytes = 0;
  bool records = false;

  friend bool operator==(const BlockIdentity&, const BlockIdentity&) = default;
};

// Whether keys like these may be packed.
[[nodiscard]] bool is_packable(const BlockIdentity& identity);

// Whether `payload` has the size and, if packed, the widths of a payload of `expected`. This finds
// faults of the encoder, which no checksum shows.
[[nodiscard]] bool has_right_form(const BlockIdentity& expected, Encoding encoding,
                                  ConstByteSpan payload);

// The most bytes a block of `count` keys takes: those of a plain one.
[[nodiscard]] std::uint64_t most_block_bytes(std::uint64_t count, std::size_t element_bytes);

// The first key of plain, ordered keys, in the form of the header's field.
[[nodiscard]] std::uint64_t first_key_of(ConstByteSpan keys, std::size_t key_bytes);

// Writes the block of `keys`, ordered and ascending, to the start of `to` and returns the bytes it
// takes, a multiple of kBlockAlignment; returns 0 and writes nothing if `to` is too small. kAuto
// packs if that saves a tenth, kOn if it saves anything.
// Requires: keys.size() == identity.count * identity.element_bytes, keys aligned to element_bytes;
// `to` is aligned to 8.
std::size_t encode_block(const BlockIdentity& identity, ConstByteSpan keys, Packing packing,
                         ByteSpan to);

// The same for keys in stored form, which the engine has packed.
std::size_t encode_payload(const BlockIdentity& identity, Encoding encoding, ConstByteSpan payload,
                           ByteSpan to);

// The result of check_block. `problem` is empty if the block is the expected one and intact, else
// the reason for a message: "its checksum does not match".
struct BlockCheck {
  ConstByteSpan payload;  // inside the block; empty if there is a problem
  Encoding encoding = Encoding::kPlain;
  std::string_view problem;
};

// Checks that `block`, the stored bytes, is the block `expected`, and intact. Before the checksum
// has matched, uses the header only to compare it and to find the payload's end. Never reads
// outside `block`.
[[nodiscard]] BlockCheck check_block(const BlockIdentity& expected, ConstByteSpan block);

// Copies keys [begin, end) of a block that has been checked to `to`.
// Requires: begin <= end <= expected.count, check.problem is empty, the block was aligned to 16.
void decode_keys(const BlockIdentity& expected, const BlockCheck& check, std::uint64_t begin,
                 std::uint64_t end, std::byte* to);

}  // namespace gsort::io
