// Blocks of runs. Any keys come back from a block as they were; any bytes in place of a block, and
// any change of one, are noticed, or do not matter. Nothing outside the block is read.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "element/packing.hpp"
#include "fuzz/require.hpp"
#include "io/runs/run_format.hpp"

namespace {

using gsort::ConstByteSpan;
using gsort::fuzz::require;
using gsort::io::BlockCheck;
using gsort::io::BlockIdentity;

// Memory of exactly this size, aligned as blocks are.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : words_((bytes + 7) / 8), bytes_(bytes) {}
  gsort::ByteSpan span() { return std::as_writable_bytes(std::span(words_)).first(bytes_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t bytes_;
};

void check_any_bytes(const BlockIdentity& expected, ConstByteSpan bytes) {
  Aligned block(bytes.size());
  std::copy(bytes.begin(), bytes.end(), block.span().begin());
  const BlockCheck check = gsort::io::check_block(expected, block.span());
  require(!check.problem.empty());  // its checksum would have to be guessed
}

template <class Key>
void write_change_and_read(ConstByteSpan bytes, std::uint32_t change, gsort::Packing packing) {
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  if (keys.empty()) return;
  std::memcpy(keys.data(), bytes.data(), keys.size() * sizeof(Key));
  std::sort(keys.begin(), keys.end());
  const ConstByteSpan raw = std::as_bytes(std::span(keys));
  const BlockIdentity identity{.store = 1,
                               .run = 2,
                               .position = 3,
                               .first_key = gsort::io::first_key_of(raw, sizeof(Key)),
                               .count = static_cast<std::uint32_t>(keys.size()),
                               .element_bytes = sizeof(Key)};
  check_any_bytes(identity, bytes);
  Aligned room(gsort::io::most_block_bytes(keys.size(), sizeof(Key)));
  const std::size_t stored = gsort::io::encode_block(identity, raw, packing, room.span());
  Aligned block(stored);
  std::copy_n(room.span().begin(), stored, block.span().begin());
  const std::uint32_t bit = change % (8 * static_cast<std::uint32_t>(stored) + 1);
  if (bit > 0) block.span()[(bit - 1) / 8] ^= static_cast<std::byte>(1U << ((bit - 1) % 8));
  const BlockCheck check = gsort::io::check_block(identity, block.span());
  require(bit > 0 || check.problem.empty());
  if (!check.problem.empty()) return;
  std::vector<Key> back(keys.size());
  gsort::io::decode_keys(identity, check, 0, keys.size(),
                         std::as_writable_bytes(std::span(back)).data());
  require(back == keys);  // a change that was not noticed lay in the padding
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint32_t change = 0;
  if (size < sizeof(change) + 1) return 0;
  std::memcpy(&change, data, sizeof(change));
  const std::uint8_t how = data[sizeof(change)];
  const auto packing = static_cast<gsort::Packing>(how / 2 % 3);
  const ConstByteSpan bytes = std::as_bytes(std::span(data, size)).subspan(sizeof(change) + 1);
  if (how % 2 == 0) {
    write_change_and_read<std::uint32_t>(bytes, change, packing);
  } else {
    write_change_and_read<std::uint64_t>(bytes, change, packing);
  }
  return 0;
}
