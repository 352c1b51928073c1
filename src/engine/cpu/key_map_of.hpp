// The map of the keys that lanes of the CPU engine sort: numbers, or records that are one key.
#pragma once

#include "element/element.hpp"
#include "engine/engine.hpp"

namespace gsort::cpu {

template <class Key>
[[nodiscard]] KeyMap<Key> map_of(const EngineShape& shape) {
  if constexpr (sizeof(Key) == sizeof(UInt128)) {
    if (shape.records) return wide_map_of(*shape.records);
  }
  return KeyMap<Key>::of(shape.format);
}

}  // namespace gsort::cpu
