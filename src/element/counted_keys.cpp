#include "element/counted_keys.hpp"

#include <bit>
#include <cstring>

#include "element/key.hpp"

namespace gsort {
namespace {

std::uint64_t in_file_order(std::uint64_t count, bool big_endian) {
  return big_endian ? swap_bytes(count) : count;
}

}  // namespace

void join_counts(const CountedKeys& from, bool big_endian, std::byte* pairs) {
  const std::byte* key = from.keys.data();
  for (const std::uint64_t number : from.counts) {
    const std::uint64_t count = in_file_order(number, big_endian);
    std::memcpy(pairs, key, from.key_bytes);
    std::memcpy(pairs + from.key_bytes, &count, kCountBytes);
    pairs += from.key_bytes + kCountBytes;
    key += from.key_bytes;
  }
}

void split_counts(std::span<const std::byte> pairs, std::size_t key_bytes, bool big_endian,
                  std::byte* keys, std::span<std::uint64_t> counts) {
  const std::byte* pair = pairs.data();
  for (std::uint64_t& count : counts) {
    std::memcpy(keys, pair, key_bytes);
    std::memcpy(&count, pair + key_bytes, kCountBytes);
    count = in_file_order(count, big_endian);
    pair += key_bytes + kCountBytes;
    keys += key_bytes;
  }
}

// A sum modulo 2^64 of equal summands is a product.
Fingerprint fingerprint_of_counted(const CountedKeys& keys, std::uint64_t but) {
  Fingerprint all;
  const auto add = [&](const auto& fingerprint_at) {
    const std::byte* at = keys.keys.data();
    for (const std::uint64_t count : keys.counts) {
      const std::uint64_t times = count - but;
      const Fingerprint one = fingerprint_at(at);
      at += keys.key_bytes;
      all.count += times;
      all.first += times * one.first;
      all.second += times * one.second;
    }
  };
  if (!std::has_single_bit(keys.key_bytes) || keys.key_bytes > sizeof(UInt128)) {
    add([&](const std::byte* at) {
      return fingerprint_of_records({at, keys.key_bytes}, keys.key_bytes);
    });
    return all;
  }
  with_key_of_width(keys.key_bytes, [&](auto key) {
    add([&](const std::byte* at) {
      std::memcpy(&key, at, sizeof(key));
      return fingerprint::of_key(key);
    });
  });
  return all;
}

std::uint64_t sum_of_counts(const CountedKeys& keys, std::uint64_t but) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : keys.counts) sum += count - but;
  return sum;
}

}  // namespace gsort
