#include "cluster/output/deferred_parts.hpp"

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "cluster/frame.hpp"
#include "cluster/output/raw_elements.hpp"

namespace gsort::cluster {

void DeferredParts::put_rest(std::span<const ByteSpan> scratch) {
  const std::vector<io::Run> runs = run_.finish();
  if (runs.empty()) return;
  const std::uint64_t most = frame_elements(kMostFrameBytes, format_.bytes());
  const std::uint64_t end = runs.front().elements();
  const auto put_frame = [&](unsigned worker, std::uint64_t frame) {
    const std::uint64_t begin = frame * most;
    next_.put(deferred_.begin + begin,
              load_frame(runs.front(), begin, end, format_, scratch[worker], &meter_));
  };
  for_each_number(static_cast<unsigned>(scratch.size()), div_up(end, most), put_frame,
                  [&] { next_.abandon(); });  // other workers wait for its piece
}

}  // namespace gsort::cluster
