#include "cluster/output/deferred_parts.hpp"

#include <algorithm>
#include <atomic>

#include "base/failure.hpp"
#include "base/page.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "cluster/frame.hpp"
#include "cluster/output/raw_elements.hpp"
#include "pipeline/run_view.hpp"

namespace gsort::cluster {

void DeferredParts::put_rest(std::span<const ByteSpan> scratch) {
  const std::vector<io::Run> runs = run_.finish();
  const RunViews views = views_of(runs);
  if (views.empty()) return;
  const std::uint64_t element_bytes = format_.bytes();
  const std::uint64_t most = std::max<std::uint64_t>(kMostFrameBytes / element_bytes, 1);
  const std::uint64_t room = round_up(most * element_bytes, std::uint64_t{kBufferAlignment});
  const std::uint64_t end = views.front()->fences().elements();
  std::atomic<std::uint64_t> next_piece{0};
  Failure failure;
  run_workers(static_cast<unsigned>(scratch.size()), [&](unsigned worker) {
    try {
      while (!failure.failed()) {
        const std::uint64_t begin = next_piece++ * most;
        if (begin >= end) return;
        const std::uint64_t count = std::min(most, end - begin);
        const ByteSpan elements = scratch[worker].first(count * element_bytes);
        {
          Span span(&meter_, Stage::kLoad);
          span.add_bytes(elements.size());
          read_raw(*views.front(), begin, begin + count, format_, elements,
                   scratch[worker].subspan(room));
        }
        next_.put(deferred_.begin + begin, elements);
      }
    } catch (...) {
      failure.capture();
      next_.abandon();  // others wait for this piece
    }
  });
  failure.rethrow();
}

}  // namespace gsort::cluster
