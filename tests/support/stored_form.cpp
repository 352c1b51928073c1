#include "support/stored_form.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/units.hpp"
#include "element/packed_keys.hpp"

namespace gsort::test {
namespace {

template <class Key>
StoredForm stored(std::span<const Key> keys, std::uint64_t block_elements, Packing packing) {
  StoredForm form;
  form.count = keys.size();
  while (!keys.empty()) {
    const auto block = keys.first(std::min<std::uint64_t>(keys.size(), block_elements));
    const std::size_t packed = packed_bytes(block);
    const bool packs = packed <= most_packed_bytes(packing, block.size_bytes());
    const std::size_t size = packs ? packed : block.size_bytes();
    const std::size_t begin = form.payloads.size();
    form.payloads.resize(begin + round_up(size, kPayloadAlignment));
    const std::span<std::byte> payload = std::span(form.payloads).subspan(begin, size);
    if (packs) {
      pack_keys(block, payload);
    } else {
      std::memcpy(payload.data(), block.data(), size);
    }
    form.block_bytes.push_back(static_cast<std::uint32_t>(size));
    keys = keys.subspan(block.size());
  }
  return form;
}

template <class Key>
Bytes keys_of_piece(const StoredKeys& piece, std::span<const std::byte> buffer) {
  const std::span<const std::byte> payload = buffer.subspan(piece.payload);
  Bytes keys((piece.end - piece.begin) * sizeof(Key));
  if (piece.packed == 0) {
    const auto wanted = payload.subspan(piece.begin * sizeof(Key), keys.size());
    std::ranges::copy(wanted, keys.begin());
    return keys;
  }
  // Its size is not said: it is the one that is whole.
  const std::size_t head = pack_head_bytes(piece.count, sizeof(Key));
  std::size_t size = head;
  for (std::size_t group = 0; group < pack_groups(piece.count); ++group) {
    size += kPackRowBytes *
            std::to_integer<std::size_t>(payload[pack_groups(piece.count) * sizeof(Key) + group]);
  }
  if (!is_packed_form<Key>(payload.first(size), piece.count)) {
    throw std::logic_error("a packed payload is not whole");
  }
  unpack_keys(payload.first(size), piece.count, piece.begin, piece.end,
              reinterpret_cast<Key*>(keys.data()));
  return keys;
}

// Calls use(Key{}) for keys of 4, 8 or 16 bytes.
template <class Use>
auto with_packed_key(std::size_t key_bytes, const Use& use) {
  if (key_bytes == sizeof(UInt128)) return use(UInt128{});
  return key_bytes == sizeof(std::uint32_t) ? use(std::uint32_t{}) : use(std::uint64_t{});
}

}  // namespace

StoredForm to_stored(std::span<const std::byte> keys, std::size_t key_bytes,
                     std::uint64_t block_elements, Packing packing) {
  return with_packed_key(key_bytes, [&](auto width) {
    using Key = decltype(width);
    const auto* const begin = reinterpret_cast<const Key*>(keys.data());
    return stored<Key>({begin, keys.size() / sizeof(Key)}, block_elements, packing);
  });
}

Bytes from_stored(const StoredBlocks& blocks, std::size_t key_bytes, std::uint64_t block_elements) {
  Bytes keys;
  std::uint64_t left = blocks.count;
  std::uint64_t place = 0;
  for (const std::uint32_t size : blocks.block_bytes) {
    const std::uint64_t count = std::min(left, block_elements);
    if (count == 0 || size > count * key_bytes || place + size > blocks.payloads.size()) {
      throw std::logic_error("blocks and keys do not go together");
    }
    StoredKeys piece;
    piece.payload = place;
    piece.count = static_cast<std::uint32_t>(count);
    piece.end = piece.count;
    piece.packed = size < count * key_bytes ? 1 : 0;
    const Bytes more = keys_of(piece, blocks.payloads.first(place + size), key_bytes);
    keys.insert(keys.end(), more.begin(), more.end());
    left -= count;
    place += round_up(size, kPayloadAlignment);
  }
  if (left > 0) throw std::logic_error("keys are missing");
  return keys;
}

Bytes keys_of(const StoredKeys& piece, std::span<const std::byte> buffer, std::size_t key_bytes) {
  return with_packed_key(key_bytes,
                         [&](auto width) { return keys_of_piece<decltype(width)>(piece, buffer); });
}

}  // namespace gsort::test
