#include "cluster/frame.hpp"

#include <cstring>

#include <xxhash.h>

#include "element/packed_keys.hpp"

namespace gsort::cluster {
namespace {

// Behind the envelope; the payload is behind it.
struct FrameHead {
  std::uint64_t check;  // of all that follows
  FramePlace place;
  std::uint64_t is_packed;
};
static_assert(sizeof(Envelope) == 8 && sizeof(FrameHead) % 8 == 0);  // payloads are aligned to 8
static_assert(sizeof(FrameHead) == kFrameHeadBytes);

constexpr std::size_t kCheckedFrom = sizeof(Envelope) + sizeof(std::uint64_t);
constexpr std::size_t kPayloadFrom = sizeof(Envelope) + sizeof(FrameHead);
static_assert(kPayloadFrom + kMostFrameBytes <= Peers::kMostMessageBytes);

std::uint64_t check_of(ConstByteSpan bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

template <class Key>
std::span<const Key> keys_of(ConstByteSpan bytes) {
  return {reinterpret_cast<const Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

// Returns whether the keys became shorter.
template <class Key>
bool append_packed(ConstByteSpan elements, Message& message) {
  const auto keys = keys_of<Key>(elements);
  const std::size_t bytes = packed_bytes(keys);
  if (bytes >= elements.size()) return false;
  message.resize(kPayloadFrom + bytes);
  pack_keys(keys, ByteSpan(message).subspan(kPayloadFrom));
  return true;
}

template <class Key>
void unpack_payload(ConstByteSpan payload, std::uint64_t count, ByteSpan out) {
  if (!is_packed_form<Key>(payload, count)) throw_malformed();
  unpack_keys(payload, count, 0, count, reinterpret_cast<Key*>(out.data()));
}

}  // namespace

Message make_frame(const FramePlace& place, ConstByteSpan elements, std::uint64_t element_bytes,
                   bool packs) {
  Message message(kPayloadFrom);
  FrameHead head{0, place, 0};
  if (packs && element_bytes == 4) head.is_packed = append_packed<std::uint32_t>(elements, message);
  if (packs && element_bytes == 8) head.is_packed = append_packed<std::uint64_t>(elements, message);
  if (head.is_packed == 0) message.insert(message.end(), elements.begin(), elements.end());
  const Envelope envelope{MessageKind::kFrame};
  std::memcpy(message.data(), &envelope, sizeof envelope);
  std::memcpy(message.data() + sizeof envelope, &head, sizeof head);
  head.check = check_of(ConstByteSpan(message).subspan(kCheckedFrom));
  std::memcpy(message.data() + sizeof envelope, &head.check, sizeof head.check);
  return message;
}

void number_frame(Message& frame, std::uint32_t number) {
  const Envelope envelope{MessageKind::kFrame, number};
  std::memcpy(frame.data(), &envelope, sizeof envelope);
}

Frame::Frame(ConstByteSpan message) {
  MessageReader reader(message);
  (void)reader.take<Envelope>();
  const auto head = reader.take<FrameHead>();
  check_ = head.check;
  place_ = head.place;
  is_packed_ = head.is_packed != 0;
  payload_ = reader.rest();
  checked_ = message.subspan(kCheckedFrom);
}

void Frame::unpack(std::uint64_t element_bytes, ByteSpan out) const {
  if (check_of(checked_) != check_) throw_malformed();
  if (place_.count > out.size() || out.size() != place_.count * element_bytes) throw_malformed();
  if (!is_packed_) {
    if (payload_.size() != out.size()) throw_malformed();
    std::memcpy(out.data(), payload_.data(), payload_.size());
  } else if (element_bytes == 4) {
    unpack_payload<std::uint32_t>(payload_, place_.count, out);
  } else if (element_bytes == 8) {
    unpack_payload<std::uint64_t>(payload_, place_.count, out);
  } else {
    throw_malformed();
  }
}

}  // namespace gsort::cluster
