// Frames: what crosses the network while parts are merged. A frame is a stretch of a slice: a head,
// then the elements, keys packed where that makes them shorter (packed_keys.hpp), with a checksum
// over both, as that of TCP misses one error in 65,536.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.hpp"
#include "cluster/message.hpp"

namespace gsort::cluster {

// Elements of a frame, as bytes.
inline constexpr std::uint64_t kMostFrameBytes = std::uint64_t{128} << 10;

// How many elements a frame of `frame_bytes` has: one if no whole element fits.
[[nodiscard]] inline std::uint64_t frame_elements(std::uint64_t frame_bytes,
                                                  std::uint64_t element_bytes) {
  return std::max<std::uint64_t>(frame_bytes / element_bytes, 1);
}

// Bytes of a frame's head, between the envelope of the message and the elements.
inline constexpr std::size_t kFrameHeadBytes = 48;

// Where a frame's elements belong.
struct FramePlace {
  std::uint64_t part = 0;   // of all parts
  std::uint64_t run = 0;    // of the sender
  std::uint64_t begin = 0;  // in the slice of this part and run
  std::uint64_t count = 0;

  friend bool operator==(const FramePlace&, const FramePlace&) = default;
};

// `elements` are ordered keys or records as they lie in runs. `packs`: they are keys of 4 or 8
// bytes. Messages of one sender to one receiver are numbered from 0.
// Requires: at most kMostFrameBytes.
[[nodiscard]] Message make_frame(const FramePlace& place, ConstByteSpan elements,
                                 std::uint64_t element_bytes, bool packs);
void number_frame(Message& frame, std::uint32_t number);

// A frame that has arrived, a view of its message.
class Frame {
 public:
  // Throws: Error(kCorrupt) when the message is no intact frame.
  explicit Frame(ConstByteSpan message);

  [[nodiscard]] const FramePlace& place() const { return place_; }

  // Writes the elements, after checking them.
  // Requires: out holds place().count elements. Throws: Error(kCorrupt).
  void unpack(std::uint64_t element_bytes, ByteSpan out) const;

 private:
  FramePlace place_;
  bool is_packed_ = false;
  std::uint64_t check_ = 0;
  ConstByteSpan checked_;
  ConstByteSpan payload_;
};

}  // namespace gsort::cluster
