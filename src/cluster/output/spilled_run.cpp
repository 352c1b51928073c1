#include "cluster/output/spilled_run.hpp"

#include <algorithm>

#include "element/key_loops.hpp"

namespace gsort::cluster {
namespace {

// Runs hold keys as ordered numbers.
std::vector<std::byte> ordered(ConstByteSpan raw, const KeyFormat& format, std::size_t key_bytes) {
  std::vector<std::byte> bytes(raw.size());
  with_key_of_width(key_bytes, [&](auto width) {
    using Key = decltype(width);
    const std::size_t count = raw.size() / sizeof(Key);
    map_to_ordered<Key>(std::span(reinterpret_cast<const Key*>(raw.data()), count),
                        std::span(reinterpret_cast<Key*>(bytes.data()), count),
                        KeyMap<Key>::of(format));
  });
  return bytes;
}

}  // namespace

void SpilledRun::put(std::uint64_t position, ConstByteSpan elements) {
  if (elements.empty()) return;
  has_elements_ = true;
  Span span(&meter_, Stage::kSpill);
  span.add_bytes(elements.size());
  if (format_.records) return writer_.put(position, elements);
  writer_.put(position, ordered(elements, format_.key, format_.bytes()));
}

std::vector<io::Run> SpilledRun::finish() {
  std::vector<io::Run> runs;
  if (has_elements_) runs.push_back(writer_.finish());
  return runs;
}

std::vector<Cuts> cuts_of_lone_run(std::span<const io::Run> run, std::uint64_t begin,
                                   std::span<const std::uint64_t> borders) {
  std::vector<Cuts> cuts(borders.size());
  for (std::size_t i = 0; i < borders.size() && !run.empty(); ++i) {
    cuts[i] = {std::min(borders[i] - std::min(borders[i], begin), run.front().elements())};
  }
  return cuts;
}

}  // namespace gsort::cluster
