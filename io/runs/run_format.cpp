#include "io/runs/run_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

// Inlined, compiled for any x86-64: 29 GB/s a core on blocks of 256 KiB in the cache (Ice Lake
// class). The AVX-512 path of the library does 46, but not every distribution builds it in; its
// plain path 5.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/units.hpp"
#include "element/key.hpp"
#include "element/packed_keys.hpp"

namespace gsort::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is written as it lies in memory");

constexpr std::array<char, 4> kMagic = {'G', 'S', 'R', 'B'};

struct Header {
  std::array<char, 4> magic = kMagic;
  std::uint16_t version = kRunFormatVersion;
  std::uint8_t encoding = 0;
  std::uint8_t key_bytes = 0;
  std::uint64_t store = 0;
  std::uint64_t run = 0;
  std::uint64_t position = 0;
  std::uint64_t first_key = 0;
  std::uint32_t count = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t record_bytes = 0;
  std::uint32_t zero = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == kBlockHeaderBytes);

std::uint64_t checksum_of(const Header& header, ConstByteSpan payload) {
  const std::uint64_t seed = XXH3_64bits(&header, offsetof(Header, checksum));
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

Header header_of(const BlockIdentity& identity, Encoding encoding, std::size_t payload_bytes) {
  Header header;
  header.encoding = static_cast<std::uint8_t>(encoding);
  header.key_bytes =
      identity.records ? std::uint8_t{0} : static_cast<std::uint8_t>(identity.element_bytes);
  header.record_bytes = identity.records ? identity.element_bytes : 0;
  header.store = identity.store;
  header.run = identity.run;
  header.position = identity.position;
  header.first_key = identity.first_key;
  header.count = identity.count;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  return header;
}

// Calls f with a value of the unsigned type of the width, for widths that can be packed.
template <class F>
auto with_packable_key(std::size_t key_bytes, const F& f) {
  if (key_bytes == sizeof(UInt128)) return f(UInt128{});
  return key_bytes == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

template <class Key>
std::span<const Key> keys_in(ConstByteSpan bytes) {
  return {reinterpret_cast<const Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

// The size of the packed keys, if packing pays, else 0.
std::size_t worthwhile_packed_bytes(ConstByteSpan keys, const BlockIdentity& identity,
                                    Packing packing) {
  if (packing == Packing::kOff || !is_packable(identity)) return 0;
  const std::size_t bytes = with_packable_key(
      identity.element_bytes, [&](auto key) { return packed_bytes(keys_in<decltype(key)>(keys)); });
  return bytes <= most_packed_bytes(packing, keys.size()) ? bytes : 0;
}

// The reason for which `header` is not the one of the block wanted, or an empty text.
std::string_view mismatch(const Header& header, const BlockIdentity& expected) {
  if (header.magic != kMagic) return "there is no block";
  if (header.version != kRunFormatVersion) return "the block has an unknown version";
  if (header.encoding > static_cast<std::uint8_t>(Encoding::kPacked)) {
    return "the block has an unknown encoding";
  }
  const bool records = header.key_bytes == 0;
  const std::uint32_t bytes = records ? header.record_bytes : header.key_bytes;
  const BlockIdentity found{header.store, header.run, header.position, header.first_key,
                            header.count, bytes,      records};
  if (found != expected || header.zero != 0 || (!records && header.record_bytes != 0))
    return "this is another block";
  return {};
}

std::size_t stored_bytes(std::size_t payload_bytes) {
  return round_up(kBlockHeaderBytes + payload_bytes, kBlockAlignment);
}

// Writes header and padding around the payload, which lies in its place; returns the block's bytes.
std::size_t seal(const BlockIdentity& identity, Encoding encoding, ConstByteSpan payload,
                 ByteSpan to) {
  const std::size_t end = kBlockHeaderBytes + payload.size();
  const std::size_t stored = stored_bytes(payload.size());
  std::memset(to.data() + end, 0, stored - end);
  Header header = header_of(identity, encoding, payload.size());
  header.checksum = checksum_of(header, payload);
  std::memcpy(to.data(), &header, sizeof(header));
  return stored;
}

}  // namespace

bool is_packable(const BlockIdentity& identity) {
  return !identity.records && identity.element_bytes >= 4;
}

bool has_right_form(const BlockIdentity& expected, Encoding encoding, ConstByteSpan payload) {
  if (encoding == Encoding::kPlain) {
    return payload.size() == std::size_t{expected.count} * expected.element_bytes;
  }
  return is_packable(expected) && with_packable_key(expected.element_bytes, [&](auto key) {
           return is_packed_form<decltype(key)>(payload, expected.count);
         });
}

std::uint64_t most_block_bytes(std::uint64_t count, std::size_t element_bytes) {
  return stored_bytes(count * element_bytes);
}

std::uint64_t first_key_of(ConstByteSpan keys, std::size_t key_bytes) {
  std::uint64_t key = 0;
  const std::size_t bytes = std::min(key_bytes, sizeof(key));
  std::memcpy(&key, keys.data() + key_bytes - bytes, bytes);
  return key;
}

std::size_t encode_block(const BlockIdentity& identity, ConstByteSpan keys, Packing packing,
                         ByteSpan to) {
  const std::size_t packed_bytes = worthwhile_packed_bytes(keys, identity, packing);
  const bool packs = packed_bytes > 0;
  if (!packs) return encode_payload(identity, Encoding::kPlain, keys, to);
  if (to.size() < stored_bytes(packed_bytes)) return 0;
  const ByteSpan payload = to.subspan(kBlockHeaderBytes, packed_bytes);
  with_packable_key(identity.element_bytes,
                    [&](auto key) { pack_keys(keys_in<decltype(key)>(keys), payload); });
  return seal(identity, Encoding::kPacked, payload, to);
}

std::size_t encode_payload(const BlockIdentity& identity, Encoding encoding, ConstByteSpan payload,
                           ByteSpan to) {
  if (to.size() < stored_bytes(payload.size())) return 0;
  const ByteSpan place = to.subspan(kBlockHeaderBytes, payload.size());
  std::memcpy(place.data(), payload.data(), payload.size());
  return seal(identity, encoding, place, to);
}

BlockCheck check_block(const BlockIdentity& expected, ConstByteSpan block) {
  BlockCheck check;
  if (block.size() < kBlockHeaderBytes) {
    check.problem = "the block is truncated";
    return check;
  }
  Header header;
  std::memcpy(&header, block.data(), sizeof(header));
  check.problem = mismatch(header, expected);
  if (!check.problem.empty()) return check;
  if (block.size() - kBlockHeaderBytes < header.payload_bytes) {
    check.problem = "the block is truncated";
    return check;
  }
  const ConstByteSpan payload = block.subspan(kBlockHeaderBytes, header.payload_bytes);
  const auto encoding = static_cast<Encoding>(header.encoding);
  if (checksum_of(header, payload) != header.checksum) {
    check.problem = "the checksum does not match";
  } else if (!has_right_form(expected, encoding, payload)) {
    check.problem = "the payload is malformed";
  } else {
    check.payload = payload;
    check.encoding = encoding;
  }
  return check;
}

void decode_keys(const BlockIdentity& expected, const BlockCheck& check, std::uint64_t begin,
                 std::uint64_t end, std::byte* to) {
  if (check.encoding == Encoding::kPlain) {
    const std::uint64_t element_bytes = expected.element_bytes;
    std::memcpy(to, check.payload.data() + begin * element_bytes, (end - begin) * element_bytes);
    return;
  }
  with_packable_key(expected.element_bytes, [&](auto key) {
    unpack_keys(check.payload, expected.count, begin, end, reinterpret_cast<decltype(key)*>(to));
  });
}

}  // namespace gsort::io
