// reference-sort TYPE [little|big] [ascending|descending] [unique] < in > out: std::sort (and
// std::unique) of the whole input, sharing nothing with gsort. Signed numbers are compared as such,
// floats by std::strong_order (IEEE totalOrder), times as signed, but the least number last.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "support/time64.hpp"

namespace {

using Bytes = std::vector<char>;

template <class Number>
bool precedes(Number left, Number right) {
  return std::is_lt(std::strong_order(left, right));
}

// Reverses the bytes of every number.
void swap_all(Bytes& bytes, std::size_t number_bytes) {
  for (auto at = bytes.begin(); at != bytes.end();
       at += static_cast<std::ptrdiff_t>(number_bytes)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(number_bytes));
  }
}

template <class Number>
void sort_as(Bytes& bytes, bool big_endian, bool descending, bool unique) {
  if (big_endian) swap_all(bytes, sizeof(Number));
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  std::sort(numbers.begin(), numbers.end(), precedes<Number>);
  if (descending) std::reverse(numbers.begin(), numbers.end());
  if (unique) {
    const auto equal = [](Number left, Number right) {
      return std::is_eq(std::strong_order(left, right));
    };
    numbers.erase(std::unique(numbers.begin(), numbers.end(), equal), numbers.end());
    bytes.resize(numbers.size() * sizeof(Number));
  }
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  if (big_endian) swap_all(bytes, sizeof(Number));
}

using Sort = void (*)(Bytes&, bool, bool, bool);
const std::map<std::string, std::pair<std::size_t, Sort>> kSorts = {
    {"u8", {1, sort_as<std::uint8_t>}},
    {"i8", {1, sort_as<std::int8_t>}},
    {"u16", {2, sort_as<std::uint16_t>}},
    {"i16", {2, sort_as<std::int16_t>}},
    {"u32", {4, sort_as<std::uint32_t>}},
    {"i32", {4, sort_as<std::int32_t>}},
    {"u64", {8, sort_as<std::uint64_t>}},
    {"i64", {8, sort_as<std::int64_t>}},
    {"f32", {4, sort_as<float>}},
    {"f64", {8, sort_as<double>}},
    {"time64", {8, sort_as<gsort::test::Time64>}}};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto has = [&arguments](const char* word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  const auto found = kSorts.find(arguments.empty() ? "" : arguments.front());
  if (found == kSorts.end()) {
    std::cerr << "usage: reference-sort TYPE [big] [descending] [unique] < in > out\n";
    return 2;
  }
  Bytes bytes{std::istreambuf_iterator<char>(std::cin), {}};
  if (bytes.size() % found->second.first != 0) return 2;
  found->second.second(bytes, has("big"), has("descending"), has("unique"));
  std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  return std::cout ? 0 : 2;
}
