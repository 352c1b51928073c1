#include "element/key.hpp"

#include <array>

namespace gsort {
namespace {

constexpr std::array<std::string_view, 11> kNames = {"u8",  "i8",  "u16", "i16", "u32",   "i32",
                                                     "u64", "i64", "f32", "f64", "time64"};

}  // namespace

std::string_view name_of(KeyType type) {
  return kNames.at(static_cast<std::size_t>(type));
}

std::optional<KeyType> key_type_named(std::string_view name) {
  for (const KeyType type : kAllKeyTypes) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace gsort
