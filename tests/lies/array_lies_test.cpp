// Lies of the engine about an array in memory (src/python/array_sort.hpp): the linker calls the
// functions of this file in place of the engine's, and they spoil its result. Each result that is
// not right must be an Error.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "engine/cpu/in_place/in_place_sort.hpp"
#include "engine/cpu/pairs/pair_sort.hpp"
#include "python/array_sort.hpp"

namespace gsort::python::test {
namespace {

using Keys = std::span<std::uint32_t>;
using Lie = std::function<void(Keys)>;

Lie the_lie;     // about one row
int honest = 0;  // rows before that row

void spoil(Keys row) {
  if (the_lie && honest-- == 0) the_lie(row);
}

}  // namespace

#define GSORT_ARGSORT                                                                          \
  "_ZN5gsort3cpu12argsort_keysIjjEEvSt4spanIKT_Lm18446744073709551615EES2_IT0_"                \
  "Lm18446744073709551615EERKNS_6KeyMapIS3_EEjS2_ISt4byteLm18446744073709551615EERKNS0_10Pair" \
  "TuningE"
void real_argsort(std::span<const std::uint32_t> keys, Keys positions,
                  const KeyMap<std::uint32_t>& classes, unsigned threads, ByteSpan scratch,
                  const cpu::PairTuning& tuning) asm("__real_" GSORT_ARGSORT);
void lying_argsort(std::span<const std::uint32_t> keys, Keys positions,
                   const KeyMap<std::uint32_t>& classes, unsigned threads, ByteSpan scratch,
                   const cpu::PairTuning& tuning) asm("__wrap_" GSORT_ARGSORT);

void lying_argsort(std::span<const std::uint32_t> keys, Keys positions,
                   const KeyMap<std::uint32_t>& classes, unsigned threads, ByteSpan scratch,
                   const cpu::PairTuning& tuning) {
  real_argsort(keys, positions, classes, threads, scratch, tuning);
  spoil(positions);
}

#define GSORT_SORT_IN_PLACE                                                                \
  "_ZN5gsort3cpu13sort_in_placeIjEEvSt4spanIT_Lm18446744073709551615EERKNS_6KeyMapIS3_EEj" \
  "RKNS0_13InPlaceTuningE"
void real_sort(Keys keys, const KeyMap<std::uint32_t>& map, unsigned threads,
               const cpu::InPlaceTuning& tuning) asm("__real_" GSORT_SORT_IN_PLACE);
void lying_sort(Keys keys, const KeyMap<std::uint32_t>& map, unsigned threads,
                const cpu::InPlaceTuning& tuning) asm("__wrap_" GSORT_SORT_IN_PLACE);

void lying_sort(Keys keys, const KeyMap<std::uint32_t>& map, unsigned threads,
                const cpu::InPlaceTuning& tuning) {
  real_sort(keys, map, threads, tuning);
  spoil(keys);
}

namespace {

struct Array {
  std::size_t rows;
  std::size_t row_keys;
  std::uint32_t distinct;  // the number of values, from 0 on
};

// One row, several rows in one stretch of the check, and rows of several stretches.
constexpr Array kArrays[] = {{1, 10, 1},        {1, 1000, 1U << 30U},    {1, 1000, 4},
                             {20, 300, 50},     {1, 150'000, 1U << 30U}, {1, 150'000, 3},
                             {3, 70'000, 1'000}};
constexpr std::size_t kStretchKeys = (256 * 1024) / sizeof(std::uint32_t);

std::vector<std::uint32_t> keys_of(const Array& array) {
  std::mt19937 random(array.distinct);
  std::vector<std::uint32_t> keys(array.rows * array.row_keys);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random()) % array.distinct;
  return keys;
}

// The places in a row where a lie is told: its ends, its middle, and where two stretches meet.
std::vector<std::size_t> places_in(const Array& array) {
  std::vector<std::size_t> places = {0, 1, array.row_keys / 2, array.row_keys - 2};
  if (kStretchKeys < array.row_keys) places.insert(places.end(), {kStretchKeys - 1, kStretchKeys});
  return places;
}

// Calls work() with the lie about each row. Returns how often it threw the Error of a wrong result.
template <class Work>
std::size_t caught(const Array& array, const Lie& lie, const Work& work) {
  std::size_t errors = 0;
  for (std::size_t row = 0; row < array.rows; row += std::max<std::size_t>(array.rows - 1, 1)) {
    the_lie = lie;
    honest = static_cast<int>(row);
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCorrupt) ++errors;
    }
    the_lie = nullptr;
  }
  return errors;
}

std::size_t told(const Array& array) {
  return std::min<std::size_t>(array.rows, 2);
}

class LiesAboutArrays : public ::testing::TestWithParam<Array> {};

TEST_P(LiesAboutArrays, OfPositionsAreErrors) {
  const Array& array = GetParam();
  const auto keys = keys_of(array);
  std::vector<std::uint32_t> positions(keys.size());
  const auto work = [&] {
    argsort_array(std::as_bytes(std::span(keys)), std::as_writable_bytes(std::span(positions)),
                  array.row_keys, {KeyType::kU32}, sizeof(std::uint32_t), 1);
  };
  work();
  EXPECT_EQ(caught(
                array, [](Keys) {}, work),
            0U);
  for (const std::size_t at : places_in(array)) {
    const std::pair<const char*, Lie> lies[] = {
        {"swapped", [&](Keys row) { std::swap(row[at], row[at + 1]); }},
        {"twice", [&](Keys row) { row[at] = row[at + 1]; }},
        {"of the next row", [&](Keys row) { row[at] = static_cast<std::uint32_t>(row.size()); }},
        {"of none", [&](Keys row) { row[at] = ~std::uint32_t{0}; }},
    };
    for (const auto& [what, lie] : lies) {
      EXPECT_EQ(caught(array, lie, work), told(array)) << what << " at " << at;
    }
  }
}

TEST_P(LiesAboutArrays, OfKeysAreErrors) {
  const Array& array = GetParam();
  const auto keys = keys_of(array);
  std::vector<std::uint32_t> result(keys.size());
  const auto work = [&] {
    sort_array(std::as_bytes(std::span(keys)), std::as_writable_bytes(std::span(result)),
               array.row_keys, {KeyType::kU32}, 1);
  };
  work();
  EXPECT_EQ(caught(
                array, [](Keys) {}, work),
            0U);
  for (const std::size_t at : places_in(array)) {
    EXPECT_EQ(caught(
                  array, [&](Keys row) { row[at] ^= 1; }, work),
              told(array))
        << at;
    std::size_t differ = 0;
    const Lie exchange = [&](Keys row) {
      if (row[at] != row[at + 1]) ++differ;
      std::swap(row[at], row[at + 1]);
    };
    EXPECT_EQ(caught(array, exchange, work), differ) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, LiesAboutArrays, ::testing::ValuesIn(kArrays));

TEST(LiesAboutArraysOfFloats, AreErrorsIfEqualOnesChangePlaces) {
  // Zeros of both signs, then NaN of both signs: each pair is equal in numeric order.
  const std::vector<std::uint32_t> keys = {0x7fc00000, 0x80000000, 0, 0xffc00001};
  std::vector<std::uint32_t> positions(keys.size());
  const Array array = {1, keys.size(), 0};
  const auto work = [&] {
    argsort_array(std::as_bytes(std::span(keys)), std::as_writable_bytes(std::span(positions)),
                  keys.size(), {KeyType::kF32}, sizeof(std::uint32_t), 1);
  };
  work();
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{1, 2, 0, 3}));
  for (std::size_t at = 0; at + 1 < keys.size(); ++at) {
    const Lie swap = [&](Keys row) { std::swap(row[at], row[at + 1]); };
    EXPECT_EQ(caught(array, swap, work), 1U) << at;
  }
}

}  // namespace
}  // namespace gsort::python::test
