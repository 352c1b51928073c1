// The map of the keys that an engine sorts: numbers, or records that are one key.
#pragma once

#include "element/element.hpp"
#include "engine/engine.hpp"

namespace gsort {

template <class Key>
[[nodiscard]] KeyMap<Key> map_of(const EngineShape& shape) {
  if constexpr (sizeof(Key) == sizeof(UInt128)) {
    if (shape.records) return wide_map_of(*shape.records);
  }
  return KeyMap<Key>::of(shape.format);
}

}  // namespace gsort
