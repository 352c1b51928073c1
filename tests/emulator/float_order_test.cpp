// The order of floats on emulated devices, for keys, records, positions and merged inputs: numbers
// ascending, -0 equal to 0, every NaN last; equal keys alone by their bits. The reference compares
// values as C++ does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "device_sorts.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SortRequest;

constexpr KeyType kFloats[] = {KeyType::kF16, KeyType::kBF16, KeyType::kF32, KeyType::kF64};

std::uint64_t raw_bits(const Bytes& raw, std::size_t at, KeyType type) {
  std::uint64_t bits = 0;  // of a little-endian machine
  std::memcpy(&bits, &raw[at], bytes_of(type));
  return bits;
}

double value_of_half(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31) return fraction > 0 ? std::nan("") : sign * HUGE_VAL;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double value_at(const Bytes& raw, std::size_t at, KeyType type) {
  const std::uint64_t bits = raw_bits(raw, at, type);
  if (type == KeyType::kF16) return value_of_half(bits);
  if (type == KeyType::kF64) return std::bit_cast<double>(bits);
  const auto word = static_cast<std::uint32_t>(type == KeyType::kBF16 ? bits << 16 : bits);
  return std::bit_cast<float>(word);
}

bool is_before(double left, double right) {
  return !std::isnan(left) && (std::isnan(right) || left < right);
}

// The numbers of the keys, which lie `step` bytes apart, in a stable order.
std::vector<std::uint32_t> stable_order(const Bytes& raw, std::size_t step, KeyType type,
                                        bool descending) {
  std::vector<std::uint32_t> order(raw.size() / step);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t left, std::uint32_t right) {
    const double one = value_at(raw, left * step, type);
    const double other = value_at(raw, right * step, type);
    return descending ? is_before(other, one) : is_before(one, other);
  });
  return order;
}

// A place among keys that are equal: -0 before 0; NaN without a sign by their bits, then those with
// one, the greatest bits first.
std::uint64_t place_among_equal(std::uint64_t bits, KeyType type, bool is_nan) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes_of(type) - 1);
  if (!is_nan) return (bits & sign) == 0 ? 1 : 0;
  return (bits & sign) == 0 ? bits : (~bits & (sign - 1)) | sign;
}

Bytes sorted_alone(const Bytes& raw, KeyType type, bool descending) {
  const std::size_t step = bytes_of(type);
  std::vector<std::uint32_t> order = stable_order(raw, step, type, false);
  std::ranges::stable_sort(order, [&](std::uint32_t left, std::uint32_t right) {
    const double one = value_at(raw, left * step, type);
    const double other = value_at(raw, right * step, type);
    if (is_before(one, other) || is_before(other, one)) return is_before(one, other);
    return place_among_equal(raw_bits(raw, left * step, type), type, std::isnan(one)) <
           place_among_equal(raw_bits(raw, right * step, type), type, std::isnan(other));
  });
  if (descending) std::ranges::reverse(order);
  Bytes sorted;
  for (const std::uint32_t number : order) {
    const auto key = std::span(raw).subspan(number * step, step);
    sorted.insert(sorted.end(), key.begin(), key.end());
  }
  return sorted;
}

// Any bits; half of the keys are zeros, infinities, or NaN of both signs with a few payloads.
Bytes floats_of(KeyType type, std::size_t count) {
  std::mt19937_64 random(5);
  const std::size_t bytes = bytes_of(type);
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  const std::uint64_t infinity = type == KeyType::kF16    ? 0x7C00
                                 : type == KeyType::kBF16 ? 0x7F80
                                 : type == KeyType::kF32  ? 0x7F800000
                                                          : 0x7FF0000000000000;
  const std::uint64_t some[] = {0, infinity, infinity + 1, infinity | infinity >> 1, sign - 1};
  Bytes raw(count * bytes);
  for (std::size_t at = 0; at < raw.size(); at += bytes) {
    const std::uint64_t any = random();
    const std::uint64_t bits =
        any % 2 == 0 ? any >> 1 : some[any / 2 % std::size(some)] | (any / 32 % 2 == 0 ? sign : 0);
    std::memcpy(&raw[at], &bits, bytes);
  }
  return raw;
}

SortRequest float_request(KeyType type, bool descending, std::size_t count, unsigned devices = 2) {
  SortRequest request = test::request_on(devices, {type, false, descending}, count);
  request.input = floats_of(type, count);
  return request;
}

// Sorts through ten runs.
void expect_output(SortRequest request, const Bytes& wanted) {
  SCOPED_TRACE(test::words_of(request.format));
  const std::size_t bytes =
      request.records ? request.records->bytes : bytes_of(request.format.type);
  test::make_chunks_short(request, request.input.size() / bytes / 10);
  const test::SortResult result = test::sort_on_devices(request, 8);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_EQ(result.plan.engine, EngineKind::kCuda);
  EXPECT_TRUE(result.output == wanted);
}

TEST(FloatOrderOnDevices, OfKeysAloneIsNumericThenByBits) {
  for (const KeyType type : {KeyType::kF32, KeyType::kF64}) {
    for (const bool descending : {false, true}) {
      const SortRequest request = float_request(type, descending, 20'000);
      expect_output(request, sorted_alone(request.input, type, descending));
    }
  }
}

TEST(FloatOrderOnDevices, OfPositionsIsStable) {
  for (const KeyType type : kFloats) {
    for (const bool descending : {false, true}) {
      SortRequest request = float_request(type, descending, 20'000);
      request.argsort = true;
      const auto order = stable_order(request.input, bytes_of(type), type, descending);
      const auto raw = std::as_bytes(std::span(order));
      expect_output(request, Bytes(raw.begin(), raw.end()));
    }
  }
}

TEST(FloatOrderOnDevices, OfRecordsIsStable) {
  constexpr std::size_t kBytes = 20;
  for (const KeyType type : kFloats) {
    SortRequest request = float_request(type, type == KeyType::kBF16, 10'000);
    Bytes records;
    const std::size_t bytes = bytes_of(type);
    for (std::uint32_t number = 0; number < 10'000; ++number) {
      records.insert(records.end(), &request.input[number * bytes],
                     &request.input[number * bytes] + bytes);
      const auto raw = std::as_bytes(std::span(&number, 1));
      records.insert(records.end(), raw.begin(), raw.end());
      records.resize(std::size_t{number + 1} * kBytes);
    }
    request.records.emplace();
    request.records->bytes = kBytes;
    request.records->keys = {{.offset = 0,
                              .bytes = static_cast<std::uint32_t>(bytes),
                              .type = type,
                              .big_endian = false,
                              .descending = request.format.descending}};
    request.input = records;
    Bytes wanted;
    for (const std::uint32_t number :
         stable_order(records, kBytes, type, request.format.descending)) {
      const auto record = std::span(records).subspan(number * kBytes, kBytes);
      wanted.insert(wanted.end(), record.begin(), record.end());
    }
    expect_output(request, wanted);
  }
}

// Inputs have equal floats in any order, and so has the output.
TEST(FloatOrderOnDevices, OfMergedInputsIsNumeric) {
  for (const KeyType type : {KeyType::kF32, KeyType::kF64}) {
    const std::size_t bytes = bytes_of(type);
    SortRequest request = float_request(type, false, 20'000, 1);
    const Bytes all = request.input;
    for (std::size_t at = 0; at < all.size(); at += all.size() / 4) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      const Bytes some(begin, begin + static_cast<std::ptrdiff_t>(all.size() / 4));
      Bytes sorted;
      for (const std::uint32_t number : stable_order(some, bytes, type, false)) {
        const auto key = std::span(some).subspan(number * bytes, bytes);
        sorted.insert(sorted.end(), key.begin(), key.end());
      }
      request.merged.push_back(std::move(sorted));
    }
    const test::SortResult result = test::sort_on_devices(request, 0);
    ASSERT_FALSE(result.error.has_value()) << result.error->what();
    const std::vector<std::uint32_t> order = stable_order(*result.output, bytes, type, false);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(sorted_alone(*result.output, type, false), sorted_alone(all, type, false));
  }
}

}  // namespace
}  // namespace gsort
