// Records: elements of a fixed size that hold one or several keys, and the order they give.
//
// The keys of a record, one after the other, become one string of bytes whose order as unsigned
// bytes is the wanted one: the normalised key. Numbers go through the map of their type (key.hpp)
// and are put down with the most significant byte first; bytes stay as they are, or are
// complemented where descending. The first eight bytes of it, as a number, are the prefix: nearly
// all comparisons end there.
//
// Example: keys 4:i16 and 0:bytes2r of the record "ab..\xff\xff" (little endian): -1 becomes 7f ff,
// "ab" becomes 9e 9d, so the normalised key is 7f ff 9e 9d and the prefix 0x7fff9e9d00000000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/key.hpp"

namespace gsort {

// One key of a record.
struct KeyField {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::optional<KeyType> type;  // nothing: bytes, compared as memcmp does
  bool big_endian = false;      // of numbers
  bool descending = false;

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

struct RecordFormat {
  static constexpr std::uint32_t kMostBytes = 16 << 10;
  static constexpr std::uint32_t kMostKeyBytes = 32;  // of one key of bytes
  static constexpr std::size_t kMostKeys = 32;

  std::uint32_t bytes = 0;
  std::vector<KeyField> keys;  // the first one decides, the next ones break its ties

  friend bool operator==(const RecordFormat&, const RecordFormat&) = default;
};

class RecordOrder {
 public:
  // Requires: every key lies within the record.
  explicit RecordOrder(const RecordFormat& format);

  [[nodiscard]] const RecordFormat& format() const { return format_; }
  [[nodiscard]] std::size_t record_bytes() const { return format_.bytes; }
  [[nodiscard]] std::size_t key_bytes() const { return key_bytes_; }  // of a normalised key

  // Whether records with equal prefixes are equal in order.
  [[nodiscard]] bool prefix_is_whole() const { return key_bytes_ <= sizeof(std::uint64_t); }

  [[nodiscard]] std::uint64_t prefix_of(const std::byte* record) const {
    std::uint64_t prefix = 0;
    unsigned room = 64;
    for (const Piece& piece : pieces_) {
      const std::uint64_t value = read(piece, record);
      if (piece.bits >= room) return prefix | value >> (piece.bits - room);
      room -= piece.bits;
      prefix |= value << room;
    }
    return prefix;
  }

  // Whether a comes before b (< 0), behind it (> 0), or neither (0). Ties are the caller's.
  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const {
    for (const Piece& piece : pieces_) {
      const std::uint64_t left = read(piece, a);
      const std::uint64_t right = read(piece, b);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }

  [[nodiscard]] std::string normalised_key(const std::byte* record) const;

  // The index of the first record that comes before the one in front of it, less one; the count of
  // records if they are in order.
  [[nodiscard]] std::size_t first_disorder(std::span<const std::byte> records) const;

 private:
  // A number of at most eight bytes: a key, or a stretch of a key of bytes.
  struct Piece {
    std::uint32_t offset;
    std::uint32_t bytes;
    unsigned bits;
    bool swaps_bytes;
    bool floating;
    std::uint64_t flip;
  };

  void add(const KeyField& key);

  static std::uint64_t read(const Piece& piece, const std::byte* record) {
    std::uint64_t raw = load(record + piece.offset, piece.bytes);
    if (piece.swaps_bytes) raw = swap_bytes(raw) >> (64 - piece.bits);
    if (piece.floating) {
      const std::uint64_t sign = std::uint64_t{1} << (piece.bits - 1);
      raw ^= (raw & sign) != 0 ? sign | (sign - 1) : sign;
    }
    return raw ^ piece.flip;
  }

  // Little endian. The usual widths without a loop.
  static std::uint64_t load(const std::byte* from, std::uint32_t bytes) {
    std::uint64_t raw = 0;
    if (bytes == 8) {
      std::memcpy(&raw, from, 8);
    } else if (bytes == 4) {
      std::memcpy(&raw, from, 4);
    } else {
      std::memcpy(&raw, from, bytes);
    }
    return raw;
  }

  RecordFormat format_;
  std::size_t key_bytes_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace gsort
