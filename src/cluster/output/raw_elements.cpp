#include "cluster/output/raw_elements.hpp"

#include "element/key_loops.hpp"

namespace gsort::cluster {

// Runs hold keys as ordered numbers.
void read_raw(const RunView& run, std::uint64_t begin, std::uint64_t end,
              const ElementFormat& format, ByteSpan out, ByteSpan scratch) {
  run.read_range(begin, end, out, scratch);
  if (format.records) return;
  with_key_of_width(format.bytes(), [&](auto width) {
    using Key = decltype(width);
    const std::span<Key> keys(reinterpret_cast<Key*>(out.data()), out.size() / sizeof(Key));
    map_to_raw<Key>(keys, keys, KeyMap<Key>::of(format.key));
  });
}

}  // namespace gsort::cluster
