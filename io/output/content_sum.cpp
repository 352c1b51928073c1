#include "io/output/content_sum.hpp"

#include <algorithm>
#include <cstring>

namespace gsort::io {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

void add_word(ContentSum& sum, std::uint64_t number, std::uint64_t word) {
  // Fractional digits of pi and e.
  const std::uint64_t a = number * 0x243f6a8885a308d3;
  const std::uint64_t b = number * 0xb7e151628aed2a6b;
  sum.first += word * ((a ^ b >> 29U) | 1U);
  sum.second += __builtin_bswap64(word) * ((b ^ a >> 31U) | 1U);
}

// Bytes within one word.
void add_some(ContentSum& sum, std::uint64_t offset, ConstByteSpan bytes) {
  std::uint64_t word = 0;
  std::memcpy(reinterpret_cast<std::byte*>(&word) + offset % kWordBytes, bytes.data(),
              bytes.size());
  add_word(sum, offset / kWordBytes, word);
}

}  // namespace

ContentSum content_sum_of(std::uint64_t offset, ConstByteSpan bytes) {
  ContentSum sum;
  const std::size_t before = (kWordBytes - offset % kWordBytes) % kWordBytes;
  if (before > 0 && !bytes.empty()) {
    const ConstByteSpan head = bytes.first(std::min(before, bytes.size()));
    add_some(sum, offset, head);
    offset += head.size();
    bytes = bytes.subspan(head.size());
  }
  std::uint64_t number = offset / kWordBytes;
  for (; bytes.size() >= kWordBytes; bytes = bytes.subspan(kWordBytes)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWordBytes);
    add_word(sum, number++, word);
  }
  if (!bytes.empty()) add_some(sum, number * kWordBytes, bytes);
  return sum;
}

}  // namespace gsort::io
