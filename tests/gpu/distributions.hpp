// Inputs for the tests on the card: shapes of keys, all from a seed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "element/key.hpp"

namespace gsort::gpu {

enum class Shape : std::uint8_t {
  kUniform,
  kSorted,
  kReversed,
  kEqual,
  kFewDistinct,
  kSawtooth,
  kOrganPipe,
  kMaximum,
  kZipf,
  kInterleaved,  // every merge of halves alternates between them: the bit-reversed order
  kNormal,       // floats or doubles, as keys that are ordered as these
  kExponential,
  kBothSigns,
  kClusteredTimes,  // one in a thousand lies far away
  kRandomWidth,
};

struct NamedShape {
  Shape shape;
  std::string_view name;
};

inline constexpr NamedShape kShapes[] = {{Shape::kUniform, "uniform"},
                                         {Shape::kSorted, "sorted"},
                                         {Shape::kReversed, "reversed"},
                                         {Shape::kEqual, "equal"},
                                         {Shape::kFewDistinct, "few distinct"},
                                         {Shape::kSawtooth, "sawtooth"},
                                         {Shape::kOrganPipe, "organ pipe"},
                                         {Shape::kMaximum, "all maximum"},
                                         {Shape::kZipf, "zipf"},
                                         {Shape::kInterleaved, "interleaved"},
                                         {Shape::kNormal, "normal"},
                                         {Shape::kExponential, "exponential"},
                                         {Shape::kBothSigns, "both signs"},
                                         {Shape::kClusteredTimes, "clustered times"},
                                         {Shape::kRandomWidth, "random width"}};

// The number as a float or a double of the key's width, ordered.
template <class Key>
[[nodiscard]] Key ordered_float(double number) {
  if constexpr (sizeof(Key) == 4) {
    const auto map = KeyMap<Key>::of({KeyType::kF32, false, false});
    return map.to_ordered(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
  } else {
    const auto map = KeyMap<std::uint64_t>::of({KeyType::kF64, false, false});
    return static_cast<Key>(map.to_ordered(std::bit_cast<std::uint64_t>(number)));
  }
}

[[nodiscard]] inline std::uint64_t reverse_bits(std::uint64_t value, unsigned bits) {
  std::uint64_t reversed = 0;
  for (unsigned i = 0; i < bits; ++i) reversed |= (value >> i & 1U) << (bits - 1 - i);
  return reversed;
}

// Many keys of 128 bits have the same upper half.
template <class Key>
[[nodiscard]] Key uniform_key(std::mt19937_64& random) {
  if constexpr (kIsWide<Key>) {
    const Key upper = random() & 0xc0000000000000ffULL;
    return upper << 64 | random();
  } else {
    return static_cast<Key>(random());
  }
}

template <class Key>
[[nodiscard]] std::vector<Key> make_keys(Shape shape, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  unsigned bits = 0;
  while ((std::size_t{1} << bits) < count) ++bits;
  const auto scale = static_cast<Key>(static_cast<Key>(~Key{0}) / (count + 1));
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<Key>(i);
    const auto mirrored = static_cast<Key>(count - 1 - i);
    switch (shape) {
      case Shape::kUniform:
        keys[i] = uniform_key<Key>(random);
        break;
      case Shape::kSorted:
        keys[i] = static_cast<Key>(place * scale);
        break;
      case Shape::kReversed:
        keys[i] = static_cast<Key>(mirrored * scale);
        break;
      case Shape::kEqual:
        keys[i] = static_cast<Key>(0x1234567890abcdefULL);
        break;
      case Shape::kFewDistinct:
        keys[i] = static_cast<Key>(random() % 16 * scale);
        break;
      case Shape::kSawtooth:
        keys[i] = static_cast<Key>(i % 1000 * 77);
        break;
      case Shape::kOrganPipe:
        keys[i] = std::min(place, mirrored);
        break;
      case Shape::kMaximum:
        keys[i] = static_cast<Key>(~Key{0});
        break;
      case Shape::kZipf: {
        const double u = std::uniform_real_distribution<>(1e-9, 1)(random);
        keys[i] = static_cast<Key>(std::pow(u, -1.25));
        break;
      }
      case Shape::kInterleaved:
        keys[i] = static_cast<Key>(reverse_bits(i, bits));
        break;
      case Shape::kNormal:
        keys[i] = ordered_float<Key>(std::normal_distribution<>()(random));
        break;
      case Shape::kExponential:
        keys[i] = ordered_float<Key>(std::exponential_distribution<>()(random));
        break;
      case Shape::kBothSigns:
        keys[i] = ordered_float<Key>(std::uniform_real_distribution<>(-1, 1)(random));
        break;
      case Shape::kClusteredTimes:
        keys[i] =
            random() % 1000 == 0
                ? uniform_key<Key>(random)
                : static_cast<Key>((random() % 300 << 20) + random() % 60'000 + 1'400'000'000);
        break;
      case Shape::kRandomWidth:
        keys[i] = static_cast<Key>(uniform_key<Key>(random) >> random() % (8 * sizeof(Key)));
        break;
    }
  }
  return keys;
}

// The places of the sample of a distribution, as the kernel takes them: a test may give them keys
// that say nothing of the others.
[[nodiscard]] inline std::uint64_t place_of_sample(std::uint64_t i, std::uint64_t count,
                                                   unsigned bits, std::uint64_t seed) {
  std::uint64_t x = seed + i + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  const std::uint64_t random = (x ^ (x >> 31)) >> 32;
  const std::uint64_t begin = i * count >> bits;
  const std::uint64_t length = ((i + 1) * count >> bits) - begin;
  return begin + (random * length >> 32);
}

// Floats have the most to map.
template <class Key>
[[nodiscard]] constexpr KeyType mapped_type() {
  if (kIsWide<Key>) return KeyType::kI128;
  return sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64;
}

}  // namespace gsort::gpu
