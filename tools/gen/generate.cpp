#include "gen/generate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "gen/worst_merge.hpp"

namespace gsort {
namespace {

constexpr std::array<std::string_view, std::size(kAllDistributions)> kNames = {
    "uniform",      "sorted", "reversed",   "nearly-sorted",   "equal",
    "few-distinct", "zipf",   "sawtooth",   "organ-pipe",      "all-maximum",
    "worst-merge",  "normal", "both-signs", "clustered-times", "random-width"};

constexpr std::uint64_t kFewDistinct = 16;
constexpr std::uint64_t kMostZipfKeys = std::uint64_t{1} << 24;
constexpr std::uint64_t kLongestRamp = std::uint64_t{1} << 16;
constexpr std::uint64_t kMisplacedOneIn = 100;
constexpr std::uint64_t kFarOneIn = 1000;
constexpr std::uint64_t kBursts = 300;
constexpr std::uint64_t kFirstSecond = 1'400'000'000;
constexpr std::uint64_t kSecondsOfTenYears = 315'360'000;
constexpr std::uint64_t kNanoseconds = 1'000'000'000;

// 0 <= result < bound, from the top bits of 64 random ones.
constexpr std::uint64_t scale(std::uint64_t random, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{random} * bound >> 64U);
}

// splitmix64 as a function of its counter: D. Lemire's constants after S. Vigna and G. Steele.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : start_(mix(mix(seed) + stream)) {}
  [[nodiscard]] std::uint64_t at(std::uint64_t counter) const {
    return mix(start_ + counter * 0x9e3779b97f4a7c15ULL);
  }

  // One-to-one; 0 stays 0.
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t start_;
};

// The distributions as fractions of the key range: 64 bits of which a narrower key takes the top,
// and which are the top of a wider one.
class Fractions {
 public:
  explicit Fractions(const GenSpec& spec)
      : count_(spec.count),
        key_bits_(8 * static_cast<unsigned>(bytes_of(spec.format.type))),
        step_(~std::uint64_t{0} / std::max<std::uint64_t>(spec.count, 1)),
        ramp_(std::clamp<std::uint64_t>(spec.count / 8, 2, kLongestRamp)),
        values_(spec.seed, 1),
        choices_(spec.seed, 2) {
    // Octaves of ranks, 1 2-3 4-7 ..., up to as many keys as the input or the type can hold.
    const std::uint64_t type_keys = key_bits_ >= 24 ? kMostZipfKeys : std::uint64_t{1} << key_bits_;
    const std::uint64_t keys =
        std::min({kMostZipfKeys, type_keys, std::max(count_, std::uint64_t{1})});
    zipf_octaves_ = static_cast<unsigned>(std::bit_width(keys));
  }

  [[nodiscard]] std::uint64_t uniform(std::uint64_t i) const { return values_.at(i); }
  // Element i lies anywhere in the i-th of `count` equal steps.
  [[nodiscard]] std::uint64_t sorted(std::uint64_t i) const {
    return i * step_ + scale(values_.at(i), step_);
  }
  [[nodiscard]] std::uint64_t reversed(std::uint64_t i) const { return sorted(count_ - 1 - i); }
  [[nodiscard]] std::uint64_t nearly_sorted(std::uint64_t i) const {
    const std::uint64_t choice = choices_.at(i);
    return scale(choice, kMisplacedOneIn) == 0 ? choices_.at(~i) : sorted(i);
  }
  [[nodiscard]] std::uint64_t few_distinct(std::uint64_t i) const {
    return values_.at(scale(choices_.at(i), kFewDistinct));
  }
  // All octaves of ranks are equally likely, and all ranks of an octave: rank r has about 1/r of
  // the first's share. Frequent keys lie anywhere in the range.
  [[nodiscard]] std::uint64_t zipf(std::uint64_t i) const {
    const std::uint64_t octave = scale(choices_.at(i), zipf_octaves_);
    const std::uint64_t width = std::uint64_t{1} << octave;
    return values_.at(width + scale(choices_.at(~i), width));
  }
  [[nodiscard]] std::uint64_t sawtooth(std::uint64_t i) const {
    return i % ramp_ * (~std::uint64_t{0} / ramp_);
  }
  [[nodiscard]] std::uint64_t organ_pipe(std::uint64_t i) const {
    const std::uint64_t rank = std::min(i, count_ - 1 - i);
    return rank * (step_ == ~std::uint64_t{0} ? step_ : 2 * step_);
  }
  [[nodiscard]] std::uint64_t worst_merge(std::uint64_t i) const {
    return sorted(worst_merge_.rank_of(i, count_));
  }
  // Uses only sums and powers of two, which are the same on every machine.
  [[nodiscard]] std::uint64_t normal(std::uint64_t i) const {
    std::int64_t sum = -(std::int64_t{6} << 32);
    for (std::uint64_t term = 0; term < 6; ++term) {
      const std::uint64_t two = values_.at(6 * i + term);
      sum += static_cast<std::int64_t>((two >> 32) + (two & 0xffffffffU));
    }
    return floating(static_cast<double>(sum) * 0x1p-32);
  }
  [[nodiscard]] std::uint64_t both_signs(std::uint64_t i) const {
    return floating(static_cast<double>(values_.at(i) >> 11) * 0x1p-52 - 1);
  }
  [[nodiscard]] std::uint64_t clustered_time(std::uint64_t i) const {
    if (scale(choices_.at(i), kFarOneIn) == 0) return values_.at(i);
    const std::uint64_t burst = values_.at(~scale(choices_.at(~i), kBursts));
    const std::uint64_t second = kFirstSecond + scale(burst, kSecondsOfTenYears);
    if (key_bits_ <= 32) return second << 32;
    return second * kNanoseconds + scale(values_.at(i), kNanoseconds);
  }
  [[nodiscard]] std::uint64_t random_width(std::uint64_t i) const {
    return values_.at(i) >> scale(choices_.at(i), std::min(key_bits_, 64U));
  }

 private:
  // The number's place in the order of floats, or of doubles.
  [[nodiscard]] std::uint64_t floating(double number) const {
    if (key_bits_ > 32) {
      const auto map = KeyMap<std::uint64_t>::of({KeyType::kF64, false, false});
      return map.to_ordered(std::bit_cast<std::uint64_t>(number));
    }
    const auto map = KeyMap<std::uint32_t>::of({KeyType::kF32, false, false});
    return std::uint64_t{map.to_ordered(std::bit_cast<std::uint32_t>(static_cast<float>(number)))}
           << 32;
  }

  std::uint64_t count_;
  unsigned key_bits_;
  std::uint64_t step_;
  std::uint64_t ramp_;
  unsigned zipf_octaves_ = 1;
  Random values_;
  Random choices_;
  WorstMerge worst_merge_;
};

// The lower half of 128 bits depends only on the upper one: equal fractions make equal keys, and
// the greatest one makes the greatest key.
template <class Key>
Key number_of(std::uint64_t fraction) {
  if constexpr (sizeof(Key) > sizeof(fraction)) {
    return Key{fraction} << 64U | ~Random::mix(~fraction);
  } else {
    return static_cast<Key>(fraction >> (64 - 8 * sizeof(Key)));
  }
}

// Turns fractions into raw keys. The map to raw keys makes the order of fractions that of the type.
template <class Key, class Fraction>
void fill(const KeyFormat& format, std::uint64_t position, std::span<std::byte> out,
          const Fraction& fraction_at) {
  const auto map = KeyMap<Key>::of({format.type, format.big_endian, false});
  for (std::size_t i = 0; i < out.size() / sizeof(Key); ++i) {
    const Key raw = map.to_raw(number_of<Key>(fraction_at(position + i)));
    std::memcpy(&out[i * sizeof(Key)], &raw, sizeof(Key));
  }
}

template <class Key>
void fill(const GenSpec& spec, std::uint64_t position, std::span<std::byte> out) {
  const Fractions make(spec);
  const auto with = [&](const auto& fraction_at) {
    fill<Key>(spec.format, position, out, fraction_at);
  };
  switch (spec.distribution) {
    case Distribution::kUniform:
      return with([&](std::uint64_t i) { return make.uniform(i); });
    case Distribution::kSorted:
      return with([&](std::uint64_t i) { return make.sorted(i); });
    case Distribution::kReversed:
      return with([&](std::uint64_t i) { return make.reversed(i); });
    case Distribution::kNearlySorted:
      return with([&](std::uint64_t i) { return make.nearly_sorted(i); });
    case Distribution::kEqual:
      return with([one = make.uniform(0)](std::uint64_t) { return one; });
    case Distribution::kFewDistinct:
      return with([&](std::uint64_t i) { return make.few_distinct(i); });
    case Distribution::kZipf:
      return with([&](std::uint64_t i) { return make.zipf(i); });
    case Distribution::kSawtooth:
      return with([&](std::uint64_t i) { return make.sawtooth(i); });
    case Distribution::kOrganPipe:
      return with([&](std::uint64_t i) { return make.organ_pipe(i); });
    case Distribution::kAllMaximum:
      return with([](std::uint64_t) { return ~std::uint64_t{0}; });
    case Distribution::kWorstMerge:
      return with([&](std::uint64_t i) { return make.worst_merge(i); });
    case Distribution::kNormal:
      return with([&](std::uint64_t i) { return make.normal(i); });
    case Distribution::kBothSigns:
      return with([&](std::uint64_t i) { return make.both_signs(i); });
    case Distribution::kClusteredTimes:
      return with([&](std::uint64_t i) { return make.clustered_time(i); });
    case Distribution::kRandomWidth:
      return with([&](std::uint64_t i) { return make.random_width(i); });
  }
}

}  // namespace

std::string_view name_of(Distribution distribution) {
  return kNames.at(static_cast<std::size_t>(distribution));
}

std::optional<Distribution> distribution_named(std::string_view name) {
  for (const Distribution distribution : kAllDistributions) {
    if (name_of(distribution) == name) return distribution;
  }
  return std::nullopt;
}

void generate(const GenSpec& spec, std::uint64_t position, std::span<std::byte> out) {
  with_key_of_width(bytes_of(spec.format.type),
                    [&](auto key) { fill<decltype(key)>(spec, position, out); });
}

}  // namespace gsort
