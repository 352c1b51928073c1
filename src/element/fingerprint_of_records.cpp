#include <bit>

#include "element/fingerprint.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gsort {

Fingerprint fingerprint_of_records(std::span<const std::byte> records, std::size_t record_bytes) {
  if (record_bytes <= sizeof(std::uint64_t) && std::has_single_bit(record_bytes)) {
    return fingerprint_of(records, record_bytes);
  }
  Fingerprint total;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    const XXH128_hash_t hash = XXH3_128bits(records.data() + at, record_bytes);
    ++total.count;
    total.first += hash.low64;
    total.second += hash.high64;
  }
  return total;
}

Fingerprint fingerprint::of_key(UInt128 key) {
  return fingerprint_of_records(std::as_bytes(std::span(&key, 1)), sizeof(key));
}

}  // namespace gsort
