// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "element/fingerprint.hpp"

#include <charconv>

#include <fmt/format.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "element/fingerprint.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {
#if HWY_TARGET != \
    HWY_SCALAR  // one lane cannot be read as two halves; the scalar tail does everything
namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<std::uint64_t>;
using D32 = hn::Repartition<std::uint32_t, D64>;
using V64 = hn::Vec<D64>;  // cannot be a member where its size is known only at run time
using V32 = hn::Vec<D32>;

HWY_INLINE V64 upper_half(V64 x) {
  return hn::ShiftRight<32>(x);
}

// x * factor modulo 2^64, `upper` being upper_half(x); three products of 32 bits where there is
// none of 64.
HWY_INLINE V64 times(V64 x, V64 upper, std::uint64_t factor) {
  const D64 d64;
  const auto factors = hn::Set(d64, factor);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return x * factors;
#else
  const D32 d32;
  const auto x32 = hn::BitCast(d32, x);
  const auto factors32 = hn::BitCast(d32, factors);
  const auto low_high = hn::MulEven(x32, hn::BitCast(d32, upper_half(factors)));
  const auto high_low = hn::MulEven(hn::BitCast(d32, upper), factors32);
  return hn::Add(hn::MulEven(x32, factors32), hn::ShiftLeft<32>(hn::Add(low_high, high_low)));
#endif
}

// The steps after the first product.
HWY_INLINE V64 finished(V64 product, const fingerprint::Mixing& mixing) {
  const V64 upper = upper_half(product);
  const V64 x = times(hn::Xor(product, upper), upper, mixing.b);
  return hn::Xor(x, upper_half(x));
}

HWY_INLINE void add_wide(V64 keys, const fingerprint::Mixing& mixing, V64& sum) {
  const D64 d64;
  const V64 x = hn::Xor(keys, hn::Set(d64, mixing.offset));
  sum = hn::Add(sum, finished(times(x, upper_half(x), mixing.a), mixing));
}

// Adds the 32-bit lanes at even places, which widen to 64 bits and include the offset.
HWY_INLINE void add_even(V32 x, const fingerprint::Mixing& mixing, V64& sum) {
  const D32 d32;
  const V64 product = hn::MulEven(x, hn::Set(d32, static_cast<std::uint32_t>(mixing.a)));
  sum = hn::Add(sum, finished(product, mixing));
}

HWY_INLINE V32 with_offset(V32 keys, const fingerprint::Mixing& mixing) {
  return hn::Xor(keys, hn::Set(D32(), static_cast<std::uint32_t>(mixing.offset)));
}

HWY_INLINE V32 odd_at_even(V32 lanes) {
  return hn::BitCast(D32(), upper_half(hn::BitCast(D64(), lanes)));
}

template <class Key>
HWY_INLINE V32 load_narrow(const Key* keys) {
  if constexpr (sizeof(Key) == 4) {
    return hn::LoadU(D32(), keys);
  } else {
    return hn::PromoteTo(D32(), hn::LoadU(hn::Rebind<Key, D32>(), keys));
  }
}

// Two vectors of keys, or for narrow types as many as widen into two, each with sums of its own.
template <class Key>
HWY_INLINE void step(const Key* keys, V64& first_a, V64& second_a, V64& first_b, V64& second_b) {
  using fingerprint::kFirst;
  using fingerprint::kSecond;
  if constexpr (sizeof(Key) == 8) {
    const D64 d64;
    const V64 a = hn::LoadU(d64, keys);
    const V64 b = hn::LoadU(d64, keys + hn::Lanes(d64));
    add_wide(a, kFirst, first_a);
    add_wide(a, kSecond, second_a);
    add_wide(b, kFirst, first_b);
    add_wide(b, kSecond, second_b);
  } else {
    const V32 both = load_narrow(keys);
    const V32 first = with_offset(both, kFirst);
    const V32 second = with_offset(both, kSecond);
    add_even(first, kFirst, first_a);
    add_even(second, kSecond, second_a);
    add_even(odd_at_even(first), kFirst, first_b);
    add_even(odd_at_even(second), kSecond, second_b);
  }
}

// Modulo 2^64. Not SumOfLanes, which adds signed numbers on some targets: their overflow is
// undefined.
HWY_INLINE std::uint64_t sum_of(V64 lanes) {
  const D64 d64;
  HWY_ALIGN std::uint64_t values[hn::MaxLanes(d64)];
  hn::Store(lanes, d64, values);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d64); ++i) sum += values[i];
  return sum;
}

template <class Key>
HWY_ATTR std::size_t add_vectors(const Key* keys, std::size_t count, Fingerprint& total) {
  const D64 d64;
  const std::size_t keys_at_once = 2 * hn::Lanes(d64);
  V64 first_a = hn::Zero(d64);
  V64 second_a = first_a;
  V64 first_b = first_a;
  V64 second_b = first_a;
  std::size_t i = 0;
  for (; i + keys_at_once <= count; i += keys_at_once) {
    step(keys + i, first_a, second_a, first_b, second_b);
  }
  total.first = sum_of(hn::Add(first_a, first_b));
  total.second = sum_of(hn::Add(second_a, second_b));
  total.count = i;
  return i;
}
#else
template <class Key>
std::size_t add_vectors(const Key* /*keys*/, std::size_t /*count*/, Fingerprint& /*total*/) {
  return 0;
}
#endif

template <class Key>
Fingerprint add_all(const Key* keys, std::size_t count) {
  Fingerprint total;
  for (std::size_t i = add_vectors(keys, count, total); i < count; ++i) {
    fingerprint::add_key(keys[i], total);
  }
  return total;
}

Fingerprint add_u8(const std::uint8_t* keys, std::size_t n) {
  return add_all(keys, n);
}
Fingerprint add_u16(const std::uint16_t* keys, std::size_t n) {
  return add_all(keys, n);
}
Fingerprint add_u32(const std::uint32_t* keys, std::size_t n) {
  return add_all(keys, n);
}
Fingerprint add_u64(const std::uint64_t* keys, std::size_t n) {
  return add_all(keys, n);
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort {

HWY_EXPORT(add_u8);
HWY_EXPORT(add_u16);
HWY_EXPORT(add_u32);
HWY_EXPORT(add_u64);

Fingerprint fingerprint_of(std::span<const std::byte> raw_keys, std::size_t key_bytes) {
  const void* const keys = raw_keys.data();
  const std::size_t count = raw_keys.size() / key_bytes;
  switch (key_bytes) {
    case 1:
      return HWY_DYNAMIC_DISPATCH(add_u8)(static_cast<const std::uint8_t*>(keys), count);
    case 2:
      return HWY_DYNAMIC_DISPATCH(add_u16)(static_cast<const std::uint16_t*>(keys), count);
    case 4:
      return HWY_DYNAMIC_DISPATCH(add_u32)(static_cast<const std::uint32_t*>(keys), count);
    case sizeof(UInt128):
      return fingerprint_of_records(raw_keys, key_bytes);
    default:
      return HWY_DYNAMIC_DISPATCH(add_u64)(static_cast<const std::uint64_t*>(keys), count);
  }
}

// The number and both sums, mixed together: two arrays that exchange elements change two terms.
void add_array(std::uint64_t number, const Fingerprint& array, ArraysFingerprint& to) {
  to.all += array;
  const std::uint64_t place = fingerprint::mixed(number, fingerprint::kSecond);
  to.by_array += fingerprint::mixed(
      fingerprint::mixed(array.first ^ place, fingerprint::kFirst) + array.second,
      fingerprint::kSecond);
}

std::string to_string(const Fingerprint& fingerprint) {
  return fmt::format("{:x}:{:016x}:{:016x}", fingerprint.count, fingerprint.first,
                     fingerprint.second);
}

// The parsed fingerprint is right if it prints as the same text.
std::optional<Fingerprint> parse_fingerprint(std::string_view text) {
  Fingerprint fingerprint;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  for (std::uint64_t* const part : {&fingerprint.count, &fingerprint.first, &fingerprint.second}) {
    at = std::from_chars(at, end, *part, 16).ptr;
    if (at != end) ++at;  // the colon
  }
  if (to_string(fingerprint) != text) return std::nullopt;
  return fingerprint;
}

}  // namespace gsort
#endif  // HWY_ONCE
