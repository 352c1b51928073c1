// Keys that tests put into runs, and get back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/runs/run_store.hpp"

namespace gsort::io::test {

template <class Key>
[[nodiscard]] ConstByteSpan bytes(const std::vector<Key>& keys, std::size_t begin,
                                  std::size_t end) {
  return std::as_bytes(std::span(keys).subspan(begin, end - begin));
}

template <class Key>
[[nodiscard]] std::vector<Key> read_back(const Run& run, std::uint64_t begin, std::uint64_t end,
                                         ByteSpan scratch) {
  std::vector<Key> keys(end - begin);
  run.read_range(begin, end, std::as_writable_bytes(std::span(keys)), scratch);
  return keys;
}

}  // namespace gsort::io::test
