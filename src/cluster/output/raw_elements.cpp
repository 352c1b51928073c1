#include "cluster/output/raw_elements.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "cluster/frame.hpp"
#include "element/key_loops.hpp"
#include "engine/engine.hpp"

namespace gsort::cluster {

// Runs hold keys as ordered numbers.
void read_raw(const io::Run& run, std::uint64_t begin, std::uint64_t end,
              const ElementFormat& format, ByteSpan out, ByteSpan scratch) {
  run.read_range(begin, end, out, scratch);
  if (format.records) return;
  with_key_of_width(format.bytes(), [&](auto width) {
    using Key = decltype(width);
    const std::span<Key> keys(reinterpret_cast<Key*>(out.data()), out.size() / sizeof(Key));
    map_to_raw<Key>(keys, keys, KeyMap<Key>::of(format.key));
  });
}

ConstByteSpan load_frame(const io::Run& run, std::uint64_t begin, std::uint64_t end,
                         const ElementFormat& format, ByteSpan scratch, Meter* meter) {
  const std::uint64_t most = frame_elements(kMostFrameBytes, format.bytes());
  const std::uint64_t count = std::min(most, end - begin);
  const ByteSpan elements = scratch.first(count * format.bytes());
  Span span(meter, Stage::kLoad);
  span.add_bytes(elements.size());
  read_raw(run, begin, begin + count, format, elements,
           scratch.subspan(round_up(most * format.bytes(), std::uint64_t{kBufferAlignment})));
  return elements;
}

}  // namespace gsort::cluster
