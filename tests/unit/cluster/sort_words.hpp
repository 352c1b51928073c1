// Inputs and options of the tests of whole jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "options/options.hpp"

namespace gsort::cluster::test {

using Keys = std::vector<std::uint32_t>;

inline Options options_of(std::vector<const char*> words) {
  words.insert(words.begin(), "gsort-mpi");
  const Environment none = [](const char*) -> const char* { return nullptr; };
  return parse_options(static_cast<int>(words.size()), words.data(), none, {}, Program::kCluster);
}

inline ConstByteSpan bytes_of(const Keys& keys) {
  return std::as_bytes(std::span(keys));
}

inline Keys random_keys(std::size_t count, std::uint32_t below) {
  std::mt19937 random(static_cast<unsigned>(count));
  Keys keys(count);
  std::ranges::generate(keys, [&] { return random() % below; });
  return keys;
}

}  // namespace gsort::cluster::test
