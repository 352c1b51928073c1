// Records that are nothing but keys, for tests of sorts as one key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "element/element.hpp"

namespace gsort::test {

// Records that are keys: bytes that all stay, all move together, or each separately; floats in
// total order.
[[nodiscard]] inline std::vector<RecordFormat> tuples_of_width(std::uint32_t bytes) {
  const auto field = [](std::uint32_t offset, KeyType type, bool big_endian, bool descending) {
    return KeyField{offset,     static_cast<std::uint32_t>(bytes_of(type)),
                    type,       big_endian,
                    descending, FloatOrder::kTotal};
  };
  const auto of = [&](std::initializer_list<KeyField> keys) { return RecordFormat{bytes, keys}; };
  switch (bytes) {
    case 2:
      return {of({field(0, KeyType::kU8, false, false), field(1, KeyType::kI8, false, true)}),
              of({field(1, KeyType::kU8, false, true), field(0, KeyType::kI8, false, false)})};
    case 4:
      return {of({field(0, KeyType::kU16, false, false), field(2, KeyType::kI16, false, true)}),
              of({field(2, KeyType::kF16, true, true), field(0, KeyType::kU16, false, false)}),
              of({{0, 3, std::nullopt, false, false}, field(3, KeyType::kI8, false, true)})};
    case 8:
      return {of({field(0, KeyType::kU32, false, false), field(4, KeyType::kI32, false, true)}),
              of({field(4, KeyType::kF32, false, true), field(0, KeyType::kI32, true, false)}),
              of({field(0, KeyType::kF16, false, false), field(2, KeyType::kF32, false, false),
                  field(6, KeyType::kBF16, true, true)}),
              of({{5, 3, std::nullopt, false, true}, {0, 5, std::nullopt, false, false}})};
    case 16:
      return {of({field(0, KeyType::kU64, false, false), field(8, KeyType::kI64, false, true)}),
              of({field(8, KeyType::kF64, false, true), field(0, KeyType::kI64, true, false)}),
              of({field(12, KeyType::kF32, false, false),
                  field(2, KeyType::kU64, false, true),
                  field(10, KeyType::kF16, true, false),
                  {0, 2, std::nullopt, false, false}}),
              of({{0, 16, std::nullopt, false, true}})};
    default:
      return {};
  }
}

}  // namespace gsort::test
