// The order of floats on emulated devices, for keys, records, positions and merged inputs: numbers
// ascending, -0 equal to 0, every NaN last; equal keys alone by their bits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "device_sorts.hpp"
#include "support/key_values.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SortRequest;

constexpr KeyType kFloats[] = {KeyType::kF16, KeyType::kBF16, KeyType::kF32, KeyType::kF64};

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
test::SortResult expect_right_in_runs(SortRequest request) {
  SCOPED_TRACE(test::words_of(request.format));
  const std::size_t bytes =
      request.records ? request.records->bytes : bytes_of(request.format.type);
  test::make_chunks_short(request, request.input.size() / bytes / 10);
  test::SortResult result = test::expect_right_on_devices(request, 8);
  EXPECT_EQ(result.plan.engine, EngineKind::kCuda);
  return result;
}

TEST(FloatOrderOnDevices, OfKeysAloneIsNumericThenByBits) {
  for (const KeyType type : {KeyType::kF32, KeyType::kF64}) {
    for (const bool descending : {false, true}) {
      expect_right_in_runs(float_request(type, descending, 20'000));
    }
  }
}

TEST(FloatOrderOnDevices, OfPositionsIsStable) {
  for (const KeyType type : kFloats) {
    for (const bool descending : {false, true}) {
      SortRequest request = float_request(type, descending, 20'000);
      request.argsort = true;
      expect_right_in_runs(request);
    }
  }
}

// The reference of records believes gsort's own order of keys; that of positions does not.
TEST(FloatOrderOnDevices, OfRecordsIsStable) {
  constexpr std::size_t kBytes = 20;
  for (const KeyType type : kFloats) {
    SortRequest request = float_request(type, type == KeyType::kBF16, 10'000);
    SortRequest positions = request;
    positions.argsort = true;
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
    for (const auto number : test::numbers_in<std::uint32_t>(expected_output(positions), false)) {
      const auto record = std::span(records).subspan(number * kBytes, kBytes);
      wanted.insert(wanted.end(), record.begin(), record.end());
    }
    EXPECT_TRUE(expect_right_in_runs(request).output == wanted);
  }
}

// Inputs have equal floats in any order, and so has the output.
template <class Value>
void expect_numeric_merge(KeyType type) {
  const auto comes_first = [](const Value& left, const Value& right) {
    return test::compare_numbers(left, right) < 0;
  };
  SortRequest request = float_request(type, false, 20'000, 1);
  const auto all = test::numbers_in<Value>(request.input, false);
  for (auto begin = all.begin(); begin != all.end(); begin += 5'000) {
    std::vector<Value> some(begin, begin + 5'000);
    std::ranges::stable_sort(some, comes_first);
    request.merged.push_back(test::raw_of(some));
  }
  const test::SortResult result = test::sort_on_devices(request, 0);
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_TRUE(std::ranges::is_sorted(test::numbers_in<Value>(*result.output, false), comes_first));
  EXPECT_EQ(test::sorted_copy(*result.output, request.format),
            test::sorted_copy(request.input, request.format));
}

TEST(FloatOrderOnDevices, OfMergedInputsIsNumeric) {
  expect_numeric_merge<float>(KeyType::kF32);
  expect_numeric_merge<double>(KeyType::kF64);
}

}  // namespace
}  // namespace gsort
