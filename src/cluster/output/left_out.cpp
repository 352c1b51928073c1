#include "cluster/output/left_out.hpp"

#include <algorithm>
#include <atomic>

#include "base/failure.hpp"
#include "base/page.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "cluster/frame.hpp"
#include "cluster/output/raw_elements.hpp"

namespace gsort::cluster {
namespace {

void prove_end_of(const RunView& run, std::uint64_t begin, const ElementFormat& format,
                  ByteSpan scratch, Proof& proof, Meter* meter) {
  const std::uint64_t element_bytes = format.bytes();
  const std::uint64_t most = std::max<std::uint64_t>(kMostFrameBytes / element_bytes, 1);
  const std::uint64_t room = round_up(most * element_bytes, std::uint64_t{kBufferAlignment});
  const std::uint64_t end = run.fences().elements();
  while (begin < end) {
    const std::uint64_t count = std::min(most, end - begin);
    const ByteSpan elements = scratch.first(count * element_bytes);
    {
      Span span(meter, Stage::kLoad);
      span.add_bytes(elements.size());
      read_raw(run, begin, begin + count, format, elements, scratch.subspan(room));
    }
    proof.add_left_out(elements);
    begin += count;
  }
}

}  // namespace

void prove_left_out(RunViewSpan runs, const Cuts& cuts, const ElementFormat& format,
                    std::span<const ByteSpan> scratch, Proof& proof, Meter* meter) {
  if (!proof.enabled()) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      proof.add_left_out({runs[run]->fences().elements() - cuts[run]}, UInt128{0});
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  Failure failure;
  run_workers(static_cast<unsigned>(scratch.size()), [&](unsigned worker) {
    try {
      for (std::size_t run = next++; run < runs.size() && !failure.failed(); run = next++) {
        prove_end_of(*runs[run], cuts[run], format, scratch[worker], proof, meter);
      }
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
}

}  // namespace gsort::cluster
