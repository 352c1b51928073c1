// Sorted keys of a shape have cells that ascend, below `most`; unequal keys share none that says it
// is single.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu::test {

template <class Key, class CellsOf>
void expect_ascending_cells(const std::function<Key()>& shape,
                            std::initializer_list<std::size_t> counts, unsigned most,
                            const CellsOf& cells_of) {
  for (const std::size_t count : counts) {
    std::vector<Key> keys(count);
    std::generate(keys.begin(), keys.end(), shape);
    std::sort(keys.begin(), keys.end());
    const auto cells = cells_of(keys);
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned cell = cells.of_key(keys[i]);
      ASSERT_LT(cell, most);
      if (i == 0) continue;
      const unsigned before = cells.of_key(keys[i - 1]);
      ASSERT_LE(before, cell);
      ASSERT_TRUE(before < cell || keys[i - 1] == keys[i] || !cells.is_single(cell));
    }
  }
}

}  // namespace gsort::gpu::test
