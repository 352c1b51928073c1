// Compressed streams, also such as compressors write only with much memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include <boost/crc.hpp>

#include "io/codecs/compress.hpp"
#include "unit/io/support.hpp"

namespace gsort::io::test {

inline Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes packed(Codec codec, ConstByteSpan content) {
  Bytes to;
  compress(codec, levels_of(codec).least, content, to);
  return to;
}

inline void put_little_endian(Bytes& to, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) to[at + i] = static_cast<std::byte>(value >> (8 * i));
}

// An xz stream whose first block claims another dictionary: 28 means 64 MiB, and each further 2
// twice as much.
inline Bytes with_dictionary(Bytes xz, int code) {
  constexpr std::size_t kBlockAt = 12;
  constexpr std::array kLzma2 = {std::byte{0x21}, std::byte{1}};  // the filter, and one byte for it
  const auto block = xz.begin() + kBlockAt;
  const std::size_t sum_at = kBlockAt + std::to_integer<std::size_t>(*block) * 4;
  *(std::search(block, xz.end(), kLzma2.begin(), kLzma2.end()) + 2) = static_cast<std::byte>(code);
  boost::crc_32_type sum;
  sum.process_bytes(xz.data() + kBlockAt, sum_at - kBlockAt);
  put_little_endian(xz, sum_at, sum.checksum());
  return xz;
}

// A frame of zstd with a window of 2^log bytes and less than 2^16 bytes that are not compressed.
inline Bytes zstd_frame(unsigned log, const Bytes& content) {
  Bytes frame(9);
  put_little_endian(frame, 0, 0xFD2FB528);
  frame[5] = static_cast<std::byte>((log - 10) << 3);
  const auto header = static_cast<std::uint32_t>(content.size()) << 3 | 1;  // the last block
  for (std::size_t i = 0; i < 3; ++i) frame[6 + i] = static_cast<std::byte>(header >> (8 * i));
  return joined({frame, content});
}

// A skippable frame of zstd with this many bytes.
inline Bytes skippable_frame(std::size_t bytes) {
  Bytes frame(8 + bytes, std::byte{0x55});
  put_little_endian(frame, 0, 0x184D2A50);
  put_little_endian(frame, 4, static_cast<std::uint32_t>(bytes));
  return frame;
}

}  // namespace gsort::io::test
